// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// printf's formats into memory that you provide: what snprintf writes, without its locks and allocations.
///
/// Replace `snprintf(...)` by `tenure::format_printf(...)`, in C by `tn_snprintf(...)`: arguments, text and result are
/// the same. Differences and choices:
///
/// - Everything of C11's printf is there except `%n` and the locale. The text is that of the locale C.UTF-8:
///   the decimal point is a point, `%lc` and `%ls` write UTF-8, and flag `'` has no effect. `%C` and `%S` are
///   `%lc` and `%ls`.
/// - Refused are `%n`, conversions that C11 does not have (also `%1$d` and `%m`), a wide character that is no Unicode
///   scalar value, a width or a precision above INT_MAX, and a text that would be longer than INT_MAX. The result is -1
///   then, nothing is stored through any argument, and the text is empty.
/// - Numbers with a decimal point are rounded to nearest, ties to even, from the exact value, at any precision.
///   The processor's rounding mode has no effect.
/// - Where C11 leaves the result open, it is glibc's: "(null)" for a null `%s`, "(nil)" for a null `%p`.
/// - Two errors of glibc 2.36 are not repeated: `%#g` keeps its zeros when rounding makes a number as large as
///   10 ^ precision, and an 80-bit number with a subnormal's exponent and a first bit of one has the processor's value.
/// - Nothing is written behind the terminating zero.
///
/// Cost      10 to 40 ns for a common conversion, some 50 ns for up to 17 significant digits of any number. All digits
///           of a huge number: microseconds for exponents in the hundreds, a tenth of a millisecond for those of a long
///           double in the thousands.
/// Stack     less than 2 KiB; 16 KiB for a long double.
/// Threads   any. No allocation, no lock, no system call. Usable in signal handlers.

#include <cstdarg>
#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// The same as snprintf: writes at most `room` bytes, the last one a zero. `to` may be nullptr if `room` is zero.
/// Returns   the bytes that the text needs without its zero, or -1.
TENURE_FORMAT(3, 4) TENURE_API int format_printf(char* to, std::size_t room, const char* format, ...) noexcept;
/// The same as vsnprintf. `arguments` can be used afterwards only for va_end.
TENURE_FORMAT(3, 0)
TENURE_API int format_vprintf(char* to, std::size_t room, const char* format, std::va_list arguments) noexcept;

namespace detail {
/// The same without a terminating zero. If the text needs more than `room` bytes, only its beginning is written.
/// Returns   the bytes that the text needs, or -1.
TENURE_FORMAT(3, 0)
std::ptrdiff_t print(char* to, std::size_t room, const char* format, std::va_list arguments) noexcept;
}

}
