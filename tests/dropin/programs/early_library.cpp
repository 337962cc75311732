// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A library with a constructor that allocates, to be preloaded behind the drop-in: its constructor runs before that of
// the drop-in.

#include "early.hpp"

namespace {

early_blocks blocks;
__attribute__((constructor)) void allocate() { allocate_early(blocks); }
__attribute__((destructor)) void finish() {
    if (!finish_early(blocks)) std::abort();
}

}
