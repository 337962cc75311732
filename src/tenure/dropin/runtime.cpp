// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What compilers call and the C++ library would bring: the drop-in links the C library only.

#include <tenure/base/check.hpp>

extern "C" [[noreturn]] void __cxa_pure_virtual() noexcept;
extern "C" [[noreturn]] void __cxa_pure_virtual() noexcept {
    tenure::report_broken("a pure virtual function was called", nullptr);
    __builtin_trap();
}
