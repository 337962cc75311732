// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A call site in a library that is loaded and unloaded while the program runs: see advised.cpp.

#include <cstddef>

extern "C" void* allocate_by(void* (*allocate)(unsigned, int, std::size_t), unsigned site, std::size_t bytes);

namespace {
volatile int after = 0;
}

void* allocate_by(void* (*allocate)(unsigned, int, std::size_t), unsigned site, std::size_t bytes) {
    void* const block = allocate(site, 1, bytes);
    after = 1;
    return block;
}
