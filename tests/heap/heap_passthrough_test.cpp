// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap.hpp>

#include <cstdlib>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/options.hpp>

#include "support/process.hpp"

namespace {

using tenure::fill;
using tenure::heap;

class heap_passthrough : public testing::Test {
protected:
    heap_passthrough() {
        tenure::set_option(tenure::option::passthrough, static_cast<std::uint64_t>(tenure::part::heap));
    }
    ~heap_passthrough() override { tenure::set_option(tenure::option::passthrough, 0); }
    tenure::counting_source source_{tenure::page_source::process()};
};

TEST_F(heap_passthrough, every_block_is_of_malloc_and_the_heap_still_knows_it) {
    const std::size_t before = support::malloc_bytes();
    {
        heap tested({}, source_);
        std::set<void*> blocks;
        for (std::size_t bytes = 0; bytes < 3'000'000; bytes += bytes / 2 + 1) {
            for (const std::size_t alignment : {8u, 16u, 256u, 8192u}) {
                auto* const block = static_cast<unsigned char*>(tested.allocate(bytes, alignment, fill::zero));
                ASSERT_NE(block, nullptr);
                ASSERT_EQ(tenure::address_of(block) % alignment, 0u);
                for (std::size_t at = 0; at < bytes; at += 97) ASSERT_EQ(block[at], 0);
                std::memset(block, 1, bytes);
                blocks.insert(block);
                EXPECT_TRUE(tested.owns(block));
                EXPECT_EQ(tested.usable_size(block), bytes);
            }
        }
        EXPECT_EQ(source_.requests(), 0u);
        if (support::malloc_is_counted) {
            EXPECT_GT(support::malloc_bytes(), before + 8'000'000);
        }
        EXPECT_EQ(tested.stats().live_count, blocks.size());
        std::set<void*> walked;
        tested.walk([&](void* block, std::size_t) { walked.insert(block); });
        EXPECT_EQ(walked, blocks);
        auto* grown = static_cast<unsigned char*>(tested.reallocate(*blocks.begin(), 5'000'000, 4096));
        EXPECT_EQ(tenure::address_of(grown) % 4096, 0u);
        tested.deallocate(grown);
        EXPECT_EQ(tested.stats().live_count, blocks.size() - 1);
        tested.clear();
        EXPECT_EQ(tested.stats().live_count, 0u);
        EXPECT_FALSE(tested.owns(&tested));
        static_cast<void>(tested.allocate(100'000)); // and the destructor frees it
    }
    EXPECT_LT(support::malloc_bytes(), before + 100'000);
}

/// The process heap reads the option at its first use, which tests that ran before may have been.
TEST_F(heap_passthrough, the_process_heap_hands_out_what_malloc_gave) {
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // a program of its own
    EXPECT_EXIT(
        {
            void* block = tenure::detail::process_allocate(100, 16);
            const bool is_of_malloc = !heap::process().owns(block);
            block = heap::process().reallocate(block, 1000);
            const bool is_large_enough = heap::process().usable_size(block) >= 1000;
            tenure::detail::process_deallocate(block, 1000, 16);
            tenure::detail::process_deallocate(heap::process().allocate(10, 4096));
            std::_Exit(is_of_malloc ? is_large_enough ? 0 : 2 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

}
