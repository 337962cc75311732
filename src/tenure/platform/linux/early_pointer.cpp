// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Compiled without link-time optimisation (cmake/library.cmake), which does not see symbols that assembly defines.

#include <tenure/platform/early_pointer.hpp>

#define TENURE_ORIGIN TENURE_ASSEMBLER_NAME("early_pointer_origin")

__asm__(".section .tbss,\"awT\",%nobits\n"
        ".balign 8\n"
#if defined(__x86_64__)
        ".zero 8\n" // the pointer, in front of the origin
#endif
        ".type " TENURE_ORIGIN ",%tls_object\n"
        ".globl " TENURE_ORIGIN "\n"
#if !defined(TENURE_SHARED)
        ".hidden " TENURE_ORIGIN "\n"
#endif
        TENURE_ORIGIN ":\n"
#if defined(__aarch64__)
        ".zero 24\n" // the pointer is the last 8 bytes
#elif !defined(__x86_64__)
        ".zero 8\n"
#endif
        ".previous\n");
