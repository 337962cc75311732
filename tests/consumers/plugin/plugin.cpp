// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "../everything.hpp"

#include <cstring>
#include <vector>

#include <tenure/heap/heap.hpp>

namespace {

/// Frees 16 MiB between blocks in use, so that the background thread of this copy starts and sweeps.
int free_much() {
    tenure::heap& heap = tenure::heap::process();
    std::vector<void*> blocks;
    for (int each = 0; each < 32'000; ++each) {
        blocks.push_back(heap.allocate(512));
        if (blocks.back() == nullptr) return 1;
        std::memset(blocks.back(), each, 512);
    }
    for (void* const block : blocks) heap.deallocate(block);
    return 0;
}

}

/// A block of the process heap, of TempJob or of a pool.
extern "C" __attribute__((visibility("default"))) void* allocate_in_plugin(int kind) {
    static auto& pool = *new tenure::block_pool(64);
    if (kind == 0) return tenure::heap::process().allocate(64);
    return kind == 1 ? tenure::allocate(64, tenure::lifetime::temp_job) : pool.allocate();
}

extern "C" __attribute__((visibility("default"))) int use_plugin() {
    int failures = 0;
    for (int frame = 0; frame < 10; ++frame) failures += consumer::use_everything(tenure::checks::level);
    return failures + free_much();
}
