// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstdio>
#include <cstdlib>

#include "early_pointer_place.hpp"

extern "C" int finish_early_answer();

namespace {

// The first thread-local block, whose initial values the loader copies after it has relocated everything. If it did so
// before, an unrelocated drop-in would take one of them for a pointer.
thread_local std::uint64_t volatile not_zero[] = {1, 3, 5, 7};

}

int main() {
    if (not_zero[3] != 7 || word_at_early_pointer_place() == 0) {
        std::puts(
            "early_user: the program's thread-local block is not where an unrelocated drop-in reads its pointer.");
        return 2;
    }
    for (int i = 0; i < 1000; ++i) std::free(std::malloc(100)); // a block from before must not be among these
    return finish_early_answer() == 1 ? 0 : 1;
}
