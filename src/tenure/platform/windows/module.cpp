// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

// The shared library is never unloaded: running threads hold pointers into its state.
[[maybe_unused]] TENURE_AT_LOAD(stay_loaded) {
#if defined(TENURE_SHARED) || defined(TENURE_DROPIN)
    constexpr DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
    HMODULE pinned = nullptr;
    ::GetModuleHandleExW(how, reinterpret_cast<const wchar_t*>(&stay_loaded), &pinned);
#endif
}

}

}
