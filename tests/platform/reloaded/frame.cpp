// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// Calls a function with FRAME_BYTES on the stack.
extern "C" __attribute__((visibility("default"))) void call_with_frame(void (*function)()) {
    volatile char room[FRAME_BYTES];
    room[0] = 1;
    function();
    room[1] = room[0]; // the call above is not the last instruction
}

// The same with a table whose rules are all in what it has in common with others: assemblers move the first ones there.
#if defined(__x86_64__)
#    define TEXT_OF(number) #    number
#    define TEXT(number) TEXT_OF(number)
asm(".text\n"
    ".globl call_with_common_rules\n"
    ".type call_with_common_rules, @function\n"
    "call_with_common_rules:\n"
    ".cfi_startproc simple\n"
    ".cfi_def_cfa 7, " TEXT(
        FRAME_BYTES) " + 16\n" // of the stack pointer, as it is at the call
                     ".cfi_offset 16, -8\n"
                     "subq $(" TEXT(
                         FRAME_BYTES) " + 8), %rsp\n"
                                      "call *%rdi\n"
                                      "addq $(" TEXT(
                                          FRAME_BYTES) " + 8), %rsp\n"
                                                       "ret\n"
                                                       ".cfi_endproc\n"
                                                       ".size call_with_common_rules, . - call_with_common_rules\n");
#else
extern "C" __attribute__((visibility("default"))) void call_with_common_rules(void (*function)()) {
    call_with_frame(function);
}
#endif
