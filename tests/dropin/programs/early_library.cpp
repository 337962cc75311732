// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A library with a constructor that allocates, to be preloaded behind the drop-in: its constructor runs before that of
// the drop-in.

#include "early.hpp"

namespace {

thread_local volatile int thread_local_value = 5; // a thread-local block in front of the drop-in's, or behind it
early_blocks blocks;
__attribute__((constructor)) void allocate() { allocate_early(blocks); }
__attribute__((destructor)) void finish() {
    if (!finish_early(blocks) || thread_local_value != 5) std::abort();
}

}
