// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstdio>
#include <cstring>
#include <string_view>

#include <tenure/arena/arena.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/block_pool.hpp>

namespace {

using tenure::lifetime;

void touch(void* block) {
    auto* const number = static_cast<volatile int*>(block);
    *number = *number + 1;
}

/// Everything as it should be: not a word from Valgrind.
void use_all() {
    tenure::arena scratch;
    tenure::block_pool blocks(64);
    for (int round = 0; round < 3; ++round) {
        {
            const tenure::temp_scope scope;
            void* const all[] = {tenure::allocate(100, lifetime::temp), tenure::allocate(100, lifetime::temp_job),
                                 blocks.allocate(), scratch.allocate(100)};
            for (void* const each : all) {
                std::memset(each, 1, 64);
                touch(each);
            }
            tenure::deallocate(all[1], lifetime::temp_job);
            blocks.deallocate(all[2]);
        }
        scratch.clear();
        tenure::next_frame();
    }
}

void make(std::string_view mistake) {
    tenure::arena scratch;
    tenure::block_pool blocks(64);
    void* block = nullptr;
    if (mistake == "temp_after_rewind") {
        const tenure::temp_scope scope;
        block = tenure::allocate(100, lifetime::temp);
    } else if (mistake == "temp_job_after_free") {
        block = tenure::allocate(100, lifetime::temp_job);
        tenure::deallocate(block, lifetime::temp_job);
    } else if (mistake == "pool_after_free") {
        blocks.deallocate(block = blocks.allocate());
    } else if (mistake == "pool_after_clear") {
        block = blocks.allocate();
        blocks.clear();
    } else if (mistake == "arena_after_rewind") {
        const tenure::arena::marker start = scratch.mark();
        block = scratch.allocate(100);
        scratch.rewind(start);
    } else if (mistake == "never_written") {
        block = scratch.allocate(100);
        if (*static_cast<volatile int*>(block) == 17) std::puts("17");
        return;
    }
    touch(block);
}

}

int main(int, char** arguments) {
    const std::string_view mistake = arguments[1];
    if (mistake == "none")
        use_all();
    else
        make(mistake);
    return 0;
}
