// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// dlopen() and dlsym(): they apply planned patches to libraries that are loaded late.
///
/// The loader uses the return address to find the caller: the caller's run path decides where a library is searched,
/// and RTLD_NEXT starts behind the caller. Therefore these functions jump to the real ones with all registers and the
/// stack as the caller left them. Their duration is not measured.

#include <dlfcn.h>

#include "observe/hook/interpose/observed.hpp"
#include "observe/hook/patch/patches.hpp"

using namespace tenure::lab::hook;

extern "C" {

[[gnu::visibility("hidden"), gnu::used]] void* tenure_hook_before_dlopen() {
    apply_patches();
    return reinterpret_cast<void*>(real<void*(const char*, int)>(call::dlopen));
}

[[gnu::visibility("hidden"), gnu::used]] void* tenure_hook_before_dlsym() {
    apply_patches(); // to libraries that dlopen() has loaded
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
    const int answer = observed<call::dlclose, int(void*)>(here(), library);
    if (chosen.is_on) forget_closed_libraries();
    return answer;
}
