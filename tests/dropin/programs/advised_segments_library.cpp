// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "advised_segments.hpp"

namespace {
volatile int after = 0; // behind a call, which is then not the last
}

void* allocate_in_first_segment(void* (*allocate)(std::size_t), std::size_t bytes) {
    void* const block = allocate(bytes);
    after = 1;
    return block;
}

// The linker is told to put this section far behind the others.
__attribute__((section("tenure_far"))) void* allocate_in_second_segment(void* (*allocate)(std::size_t),
                                                                        std::size_t bytes) {
    void* const block = allocate(bytes);
    after = 2;
    return block;
}
