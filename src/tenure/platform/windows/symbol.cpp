// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/symbol.hpp>

#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

// A module names the modules whose functions it uses, so no library stands in front of another.
void* next_symbol(const char*) noexcept { return nullptr; }

void* symbol_of_loaded(const char* library, const char* name) noexcept {
    const HMODULE module = ::GetModuleHandleA(library);
    if (module == nullptr) return nullptr;
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(::GetProcAddress(module, name)));
}

bool may_be_system_code(const void*) noexcept { return true; }

}
