// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Functions that compilers call and that the C++ library would provide: the drop-in links only the C library.

#include <tenure/base/check.hpp>

extern "C" [[noreturn]] void __cxa_pure_virtual() noexcept;
extern "C" [[noreturn]] void __cxa_pure_virtual() noexcept {
    tenure::report_broken("a pure virtual function was called", nullptr);
    __builtin_trap();
}
