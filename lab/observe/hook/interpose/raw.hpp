// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// System calls without the C library, whose functions set errno and may be the ones that the hook interposes.

namespace tenure::lab::hook {

/// Returns   the result, or a negative error number.
inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
    long answer;
    register long r10 __asm__("r10") = d; // NOLINT: the kernel's fourth to sixth arguments have these registers
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return answer;
}

}
