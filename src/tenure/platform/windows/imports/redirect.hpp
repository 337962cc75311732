// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Makes the modules of this process call other functions than they import: those that are loaded, and those that are
/// loaded later, before any of their code runs.

#include <cstddef>
#include <span>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

struct redirected_function {
    const char* name;  ///< under which the library exports it
    void* replacement; ///< nullptr: nothing is replaced, only `original` is wanted
    detail::atomic<void*>*
        original; ///< receives the library's own function while the library is loaded; may be nullptr
};

/// Of static duration.
struct redirected_library {
    const wchar_t* file; ///< "ucrtbase.dll"
    std::span<const redirected_function> functions;
    void* module = nullptr; ///< while it is loaded
};

/// Redirects the functions of C runtimes in all other modules, and functions of the system within C runtimes. What
/// GetProcAddress() returns is redirected, too, and the libraries in `system` are left as they are. Libraries that are
/// not loaded yet are, when they are loaded. Requires  the loader's lock, which a function has that runs at load.
/// Called once.
void redirect(std::span<redirected_library> c_runtimes, std::span<redirected_library> system) noexcept;

}
