// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Allocates in the resolver of an indirect function of the program: while the loader still relocates it, before any
// constructor and before the C library has its environment.

#include "early.hpp"

namespace {

early_blocks blocks;

int answer() { return 42; }

}

extern "C" {
// NOLINTNEXTLINE(misc-use-internal-linkage): named by the attribute
int (*resolve_answer())() {
    allocate_early(blocks);
    return &answer;
}
int chosen_answer() __attribute__((ifunc("resolve_answer")));
}

int main() { return chosen_answer() == 42 && finish_early(blocks) ? 0 : 1; }
