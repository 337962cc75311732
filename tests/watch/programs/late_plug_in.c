/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* Two functions for programs/late.c: of one the first instruction is as long as a jump, so that one store replaces it;
   of the other the jump takes the place of several. */

__attribute__((naked, noinline, aligned(16))) int begins_long(void) {
    __asm__("mov $40, %eax\n"
            "add $1, %eax\n"
            "ret");
}

__attribute__((naked, noinline, aligned(16))) int begins_short(void) {
    __asm__("push %rbx\n"
            "mov $42, %eax\n"
            "pop %rbx\n"
            "ret");
}
