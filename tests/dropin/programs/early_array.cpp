// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Allocates in .preinit_array, which runs before every library's constructors.

#include "early.hpp"

namespace {

early_blocks blocks;
void allocate(int, char**, char**) { allocate_early(blocks); }

}

__attribute__((section(".preinit_array"), used)) void (*const before_all)(int, char**, char**) = &allocate;

int main() { return finish_early(blocks) ? 0 : 1; }
