// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Tenure's own marks: a region in two threads, and a promise not to allocate that malloc and Tenure break.

#include <tenure/tenure.hpp>

#include <cstdlib>
#include <thread>
#include <vector>

namespace {

__attribute__((noinline)) void plain_malloc() {
    void* volatile block = std::malloc(100);
    std::free(block);
}

__attribute__((noinline)) void tenures_block() {
    void* volatile block = tenure::allocate(64, tenure::lifetime::persistent);
    tenure::deallocate(block, 64, tenure::lifetime::persistent);
}

__attribute__((noinline)) void frames_block() {
    void* volatile block = tenure::allocate(64, tenure::lifetime::temp);
    static_cast<void>(block);
}

}

int main() {
    std::vector<std::thread> crew;
    for (int thread = 0; thread < 2; ++thread) {
        crew.emplace_back([] {
            for (int round = 0; round < 10; ++round) {
                const tenure::region_scope region("frame work");
                if (round == 5) tenure::mark("half of it");
                plain_malloc();
            }
        });
    }
    for (std::thread& each : crew) each.join();
    for (int round = 0; round < 3; ++round) {
        const tenure::no_alloc_scope promise;
        plain_malloc();
        tenures_block();
        frames_block();
        const tenure::allow_alloc_scope permission;
        plain_malloc(); // not counted
        const tenure::region_scope region("permitted");
        plain_malloc(); // nor this
    }
}
