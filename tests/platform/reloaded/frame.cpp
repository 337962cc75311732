// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// Calls a function with FRAME_BYTES on the stack.
extern "C" __attribute__((visibility("default"))) void call_with_frame(void (*function)()) {
    volatile char room[FRAME_BYTES];
    room[0] = 1;
    function();
    room[1] = room[0]; // the call above is not the last instruction
}
