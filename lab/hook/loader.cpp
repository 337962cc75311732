// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// dlopen() and dlsym(): the chance to patch a library that comes late.
///
/// The loader looks for a library where the one that asks says (its run path), and for a symbol behind the one that
/// asks; it knows both by the return address. So these are jumped to, with everything as the caller left it, and what
/// they take is not seen.

#include <dlfcn.h>

#include "hook/observed.hpp"
#include "hook/patches.hpp"

using namespace tenure::lab::hook;

extern "C" {

[[gnu::visibility("hidden"), gnu::used]] void* tenure_hook_before_dlopen() {
    apply_patches();
    return reinterpret_cast<void*>(real<void*(const char*, int)>(call::dlopen));
}

[[gnu::visibility("hidden"), gnu::used]] void* tenure_hook_before_dlsym() {
    apply_patches(); // of what dlopen() has brought
    return real_dlsym();
}
}

__asm__(R"(
        .text
        .globl dlopen
        .type dlopen, @function
dlopen:
        push %rdi
        push %rsi
        sub $8, %rsp
        call tenure_hook_before_dlopen
        add $8, %rsp
        pop %rsi
        pop %rdi
        jmp *%rax
        .size dlopen, . - dlopen

        .globl dlsym
        .type dlsym, @function
dlsym:
        push %rdi
        push %rsi
        sub $8, %rsp
        call tenure_hook_before_dlsym
        add $8, %rsp
        pop %rsi
        pop %rdi
        jmp *%rax
        .size dlsym, . - dlsym
)");

extern "C" int dlclose(void* library) {
    int const answer = observed<call::dlclose, int(void*)>(here(), library);
    if (chosen.is_on) forget_closed_libraries();
    return answer;
}
