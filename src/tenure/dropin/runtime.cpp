// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What compilers' start files and the C++ library would provide: the drop-in links only the C library.

#include <tenure/base/check.hpp>
#include <tenure/base/compiler.hpp>

// Names the library in pthread_atfork(). Hidden: each library has its own.
extern "C" {
extern TENURE_LOCAL void* __dso_handle;
void* __dso_handle = &__dso_handle;
}

extern "C" [[noreturn]] void __cxa_pure_virtual() noexcept;
extern "C" [[noreturn]] void __cxa_pure_virtual() noexcept {
    tenure::report_broken("a pure virtual function was called", nullptr);
    tenure::detail::trap();
}
