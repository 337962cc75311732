// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/arena/arena.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/platform/process.hpp>

#include "support/process.hpp"

namespace {

using tenure::arena;

class arenas : public testing::Test {
protected:
    arenas() {
        // Under passthrough nothing comes from the source; the conformance tests look at that.
        if (tenure::passthrough_enabled(tenure::part::arena))
            throw std::logic_error("these tests are not for passthrough");
    }
    ~arenas() override { EXPECT_EQ(source_.live_blocks(), 0u); }

    static unsigned char* bytes(void* block) { return static_cast<unsigned char*>(block); }

    tenure::counting_source source_{tenure::page_source::process()};
};

TEST_F(arenas, nothing_is_taken_before_the_first_block) {
    const arena scratch(source_);
    EXPECT_EQ(source_.requests(), 0u);
    EXPECT_TRUE(scratch.valid());
    EXPECT_EQ(scratch.stats().reserved_bytes, 0u);
    EXPECT_FALSE(scratch.owns(&scratch));
    EXPECT_FALSE(scratch.owns(nullptr));
}

TEST_F(arenas, blocks_follow_one_another_without_rounding) {
    arena scratch(source_);
    auto* previous = bytes(scratch.allocate(4, 4));
    for (int count = 0; count < 100; ++count) {
        auto* const next = bytes(scratch.allocate(4, 4));
        EXPECT_EQ(next, previous + 4);
        previous = next;
    }
    auto* const odd = bytes(scratch.allocate(1, 1));
    EXPECT_EQ(odd, previous + 4);
    EXPECT_EQ(scratch.allocate(1, 1), odd + 1);
    EXPECT_EQ(scratch.allocate(0, 1), odd + 2);
    EXPECT_EQ(scratch.allocate(1, 1), odd + 3);
}

TEST_F(arenas, any_alignment_is_served_also_beyond_a_chunk) {
    arena scratch(1024, source_);
    for (std::size_t alignment = 1; alignment <= std::size_t{1} << 22; alignment *= 2) {
        static_cast<void>(scratch.allocate(1, 1));
        void* const block = scratch.allocate(10, alignment);
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(tenure::is_aligned(block, alignment));
        std::memset(block, 1, 10);
        EXPECT_TRUE(scratch.owns(block));
        EXPECT_TRUE(scratch.valid());
    }
}

TEST_F(arenas, a_block_larger_than_a_chunk_gets_a_larger_chunk) {
    arena scratch(1024, source_);
    for (std::size_t size : {1000u, 5000u, 100'000u, 20'000'000u}) {
        void* const block = scratch.allocate(size);
        ASSERT_NE(block, nullptr);
        std::memset(block, 1, size);
    }
    EXPECT_GE(scratch.stats().live_bytes, 20'106'000u);
    EXPECT_EQ(scratch.stats().reserved_bytes, source_.live_bytes());
    EXPECT_EQ(scratch.stats().source_blocks, source_.live_blocks());
}

TEST_F(arenas, chunks_grow_so_that_many_blocks_need_few_requests) {
    arena scratch(1024, source_);
    for (int count = 0; count < 1'000'000; ++count) ASSERT_NE(scratch.allocate(64, 16), nullptr);
    EXPECT_LT(source_.requests(), 32u);
    EXPECT_LT(source_.live_bytes(), 64'000'000u + (16u << 20));
}

TEST_F(arenas, impossible_requests_are_refused_and_change_nothing) {
    arena scratch(source_);
    auto* const first = bytes(scratch.allocate(1, 1));
    const std::size_t requests = source_.requests();
    EXPECT_EQ(scratch.allocate(SIZE_MAX, 1), nullptr);
    EXPECT_EQ(scratch.allocate(SIZE_MAX - 1, 16), nullptr);
    EXPECT_EQ(scratch.allocate(PTRDIFF_MAX, 16), nullptr);
    EXPECT_EQ(scratch.allocate(std::size_t{PTRDIFF_MAX} + 1, 1), nullptr);
    EXPECT_EQ(scratch.allocate(1, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(scratch.allocate(PTRDIFF_MAX - 200, 4096), nullptr);
    EXPECT_EQ(source_.requests(), requests);
    EXPECT_EQ(scratch.allocate(std::size_t{1} << 60, 1), nullptr); // this one only the source can refuse
    EXPECT_EQ(scratch.allocate(1, 1), first + 1);
}

TEST_F(arenas, the_newest_block_is_taken_back_and_an_older_one_is_not) {
    arena scratch(source_);
    void* const first = scratch.allocate(100, 1);
    void* const second = scratch.allocate(50, 1);
    scratch.deallocate(first, 100, 1);
    EXPECT_EQ(scratch.allocate(1, 1), bytes(second) + 50);
    scratch.deallocate(bytes(second) + 50, 1, 1);
    scratch.deallocate(second, 50, 1);
    EXPECT_EQ(scratch.allocate(10, 1), second);
    scratch.deallocate(second, 10, 1);
    scratch.deallocate(first, 100, 1);
    EXPECT_EQ(scratch.stats().live_bytes, 0u);
    void* const empty = scratch.allocate(0, 1);
    scratch.deallocate(empty, 0, 1);
    EXPECT_EQ(scratch.stats().live_bytes, 0u);
    scratch.deallocate(nullptr, 0, 1);
}

TEST_F(arenas, rewinding_drops_what_came_after_the_mark_across_chunks) {
    arena scratch(1024, source_);
    auto* const kept = bytes(scratch.allocate(100, 1));
    std::memset(kept, 7, 100);
    const arena::marker here = scratch.mark();
    const std::size_t live = scratch.stats().live_bytes;
    void* const first_after = scratch.allocate(10, 1);
    for (int count = 0; count < 1000; ++count) ASSERT_NE(scratch.allocate(1000), nullptr);
    const std::size_t reserved = source_.live_bytes();
    scratch.rewind(here);
    EXPECT_EQ(scratch.stats().live_bytes, live);
    EXPECT_EQ(source_.live_bytes(), reserved) << "chunks are kept";
    EXPECT_EQ(kept[99], 7);
    EXPECT_EQ(scratch.allocate(10, 1), first_after);
    EXPECT_TRUE(scratch.valid());
}

TEST_F(arenas, the_same_work_again_after_clear_or_rewind_takes_nothing_new) {
    arena scratch(source_);
    std::vector<void*> first_time;
    for (int round = 0; round < 10; ++round) {
        std::vector<void*> blocks;
        for (std::size_t count = 1; count < 2000; ++count) {
            blocks.push_back(scratch.allocate(count % 777, 8));
            std::memset(blocks.back(), round, std::max<std::size_t>(count % 777, 1));
        }
        if (round == 0) first_time = blocks;
        EXPECT_EQ(blocks, first_time);
        EXPECT_TRUE(scratch.valid());
        const std::size_t requests = source_.requests();
        if (round % 2 == 0)
            scratch.clear();
        else
            scratch.rewind({});
        EXPECT_EQ(scratch.stats().live_bytes, 0u);
        EXPECT_EQ(source_.requests(), requests);
    }
    EXPECT_EQ(source_.requests(), scratch.stats().source_blocks);
}

TEST_F(arenas, trim_gives_back_the_chunks_that_hold_nothing_and_no_other) {
    arena scratch(1024, source_);
    auto* const kept = bytes(scratch.allocate(100, 1));
    kept[0] = 9;
    const arena::marker here = scratch.mark();
    for (int count = 0; count < 100; ++count) ASSERT_NE(scratch.allocate(1000), nullptr);
    EXPECT_EQ(scratch.trim(), 0u);
    const std::size_t reserved = source_.live_bytes();
    scratch.rewind(here);
    const std::size_t given_back = scratch.trim();
    EXPECT_EQ(source_.live_bytes(), reserved - given_back);
    EXPECT_EQ(source_.live_blocks(), 1u);
    EXPECT_EQ(kept[0], 9);
    EXPECT_EQ(scratch.trim(), 0u);
    ASSERT_NE(scratch.allocate(10'000), nullptr);
    scratch.clear();
    scratch.trim();
    EXPECT_EQ(source_.live_blocks(), 0u);
    EXPECT_EQ(scratch.stats().reserved_bytes, 0u);
    EXPECT_NE(scratch.allocate(10), nullptr);
    EXPECT_TRUE(scratch.valid());
}

TEST_F(arenas, a_kept_chunk_that_is_too_small_stays_for_later) {
    arena scratch(1024, source_);
    ASSERT_NE(scratch.allocate(500), nullptr);
    scratch.clear();
    ASSERT_NE(scratch.allocate(100'000), nullptr);
    EXPECT_EQ(source_.live_blocks(), 2u);
    ASSERT_NE(scratch.allocate(300'000), nullptr);
    EXPECT_EQ(source_.live_blocks(), 3u);
    EXPECT_TRUE(scratch.valid());
    scratch.clear();
    scratch.trim();
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_F(arenas, every_chunk_is_owned_and_its_neighbourhood_is_not) {
    arena scratch(1024, source_);
    std::vector<unsigned char*> blocks;
    for (int count = 0; count < 200; ++count) blocks.push_back(bytes(scratch.allocate(500)));
    for (unsigned char* each : blocks) {
        EXPECT_TRUE(scratch.owns(each));
        EXPECT_TRUE(scratch.owns(each + 499));
    }
    arena other(source_);
    void* const foreign = other.allocate(10);
    EXPECT_FALSE(scratch.owns(foreign));
    EXPECT_TRUE(other.owns(foreign));
}

TEST_F(arenas, statistics_count_what_lies_before_the_cursor) {
    arena scratch(4096, source_);
    static_cast<void>(scratch.allocate(100, 1));
    EXPECT_EQ(scratch.stats().live_bytes, 100u);
    const arena::marker here = scratch.mark();
    static_cast<void>(scratch.allocate(1000, 1));
    EXPECT_EQ(scratch.stats().live_bytes, 1100u);
    scratch.rewind(here);
    EXPECT_EQ(scratch.stats().live_bytes, 100u);
    EXPECT_EQ(scratch.stats().peak_bytes, 1100u);
    EXPECT_EQ(scratch.stats().reserved_bytes, source_.live_bytes());
}

TEST_F(arenas, a_large_chunk_is_not_touched_ahead) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer's own memory is counted too";
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    arena scratch(256 * mebibyte, source_);
    const std::size_t before = tenure::platform::resident_bytes();
    ASSERT_NE(scratch.allocate(1000), nullptr);
    EXPECT_GE(source_.live_bytes(), 256 * mebibyte);
    EXPECT_LT(tenure::platform::resident_bytes(), before + mebibyte);
}

TEST_F(arenas, what_only_a_block_points_to_is_no_leak) {
    if (&__lsan_do_recoverable_leak_check == nullptr) GTEST_SKIP() << "LeakSanitizer is not in this process";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            arena scratch;
            auto** const pointers = static_cast<void**>(scratch.allocate(50 * sizeof(void*)));
            for (int index = 0; index < 50; ++index) pointers[index] = std::malloc(100);
            const bool found = __lsan_do_recoverable_leak_check() != 0;
            scratch.clear();
            scratch.trim();
            const bool found_after_trim = __lsan_do_recoverable_leak_check() != 0;
            std::_Exit(found || !found_after_trim ? 1 : 0);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(arenas, a_static_buffer_is_enough) {
    alignas(64) static unsigned char buffer[64 * 1024];
    tenure::static_buffer_source fixed(buffer, sizeof buffer);
    arena scratch(4096, fixed);
    std::size_t served = 0;
    for (int round = 0; round < 3; ++round) {
        std::size_t count = 0;
        while (void* const block = scratch.allocate(100)) {
            EXPECT_GE(block, buffer);
            EXPECT_LT(block, buffer + sizeof buffer);
            std::memset(block, round, 100);
            ++count;
        }
        EXPECT_GT(count * 112, sizeof buffer / 2);
        EXPECT_TRUE(round == 0 || count == served);
        served = count;
        EXPECT_TRUE(scratch.valid());
        scratch.clear();
        EXPECT_NE(scratch.allocate(100), nullptr) << "it goes on after it refused";
        scratch.clear();
    }
}

}
