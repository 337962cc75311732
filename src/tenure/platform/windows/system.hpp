// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// windows.h without what the library does not use, and without its macros min and max.

#ifndef WIN32_LEAN_AND_MEAN
#    define WIN32_LEAN_AND_MEAN 1
#endif
#ifndef NOMINMAX
#    define NOMINMAX 1
#endif
#include <windows.h>

#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/platform/windows/ending.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Keeps the calling thread's error code of the system, which a program may read after a call of the library, as it
/// was.
class kept_error {
public:
    kept_error() noexcept : error_(::GetLastError()) {}
    ~kept_error() { ::SetLastError(error_); }
    kept_error(const kept_error&) = delete;
    kept_error& operator=(const kept_error&) = delete;

private:
    DWORD error_;
};

/// A function of a library that is loaded anyway, for what older systems lack; nullptr if it is not there.
template<class Function>
[[nodiscard]] Function function_of(const wchar_t* library, const char* name) noexcept {
    const HMODULE module = ::GetModuleHandleW(library);
    if (module == nullptr) return nullptr;
    // By way of a number: compilers warn of a cast between types of functions.
    return reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(::GetProcAddress(module, name)));
}

/// The module that contains an address; nullptr if none does.
[[nodiscard]] inline HMODULE module_of(const void* address) noexcept {
    constexpr DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    HMODULE found = nullptr;
    return ::GetModuleHandleExW(how, static_cast<const wchar_t*>(address), &found) != 0 ? found : nullptr;
}

}
