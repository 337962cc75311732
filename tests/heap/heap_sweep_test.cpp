// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/small/heap_pages.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/detail/small/heap_shard.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/sanitizer.hpp>

#include "support/random.hpp"
#include "support/reports.hpp"

namespace {

using tenure::detail::class_of;
using tenure::detail::heap_core;
using tenure::detail::heap_memory;
using tenure::detail::heap_pages;
using tenure::detail::heap_shard;
using tenure::detail::max_segment_bytes;
using tenure::detail::sweep_result;
using tenure::detail::sweep_scope;

constexpr sweep_scope thorough{.is_thorough = true}, urgent{.is_thorough = true, .is_urgent = true};

class heap_sweeps : public testing::Test {
protected:
    ~heap_sweeps() override { EXPECT_TRUE(shard_.valid()); }

    std::vector<void*> take(std::size_t bytes, std::size_t count) {
        std::vector<void*> blocks(count);
        blocks.resize(shard_.refill(class_of(bytes), blocks.data(), count));
        for (void* const block : blocks) {
            tenure::platform::unpoison(block, bytes); // as the heap does
            std::memset(block, 1, bytes);
        }
        return blocks;
    }
    static void free(const std::vector<void*>& blocks) {
        heap_shard::flush(blocks.data(), blocks.size(), max_segment_bytes);
    }
    sweep_result sweep(sweep_scope scope) {
        memory_.begin_sweep();
        sweep_result result;
        auto place = pages_.begin_sweep();
        while (pages_.sweep_some(place, scope, result)) {}
        return result;
    }
    static std::size_t resident(const std::vector<void*>& blocks, std::size_t bytes) {
        std::size_t sum = 0;
        for (const void* const block : blocks)
            sum += tenure::platform::resident_bytes_in(block, bytes) != 0 ? bytes : 0;
        return sum;
    }

    tenure::counting_source source_{tenure::page_source::process()};
    heap_memory memory_{source_};
    heap_pages pages_{memory_};
    heap_shard shard_{pages_};
};

/// 4 KiB blocks, so that each is one OS page: every second one is freed, and the others are in use.
struct halves {
    std::vector<void*> freed, kept;
};
halves in_halves(const std::vector<void*>& blocks) {
    halves both;
    for (std::size_t each = 0; each < blocks.size(); ++each)
        (each % 2 == 0 ? both.freed : both.kept).push_back(blocks[each]);
    return both;
}

TEST_F(heap_sweeps, what_is_free_in_a_page_goes_back_at_the_second_sweep_without_a_change) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep what is in freed blocks";
    const auto [freed, kept] = in_halves(take(4096, 800));
    free(freed);
    EXPECT_EQ(sweep(thorough).returned_bytes, 0u) << "the pages have just changed";
    EXPECT_EQ(sweep(thorough).returned_bytes, freed.size() * 4096);
    EXPECT_EQ(resident(freed, 4096), 0u);
    EXPECT_EQ(resident(kept, 4096), kept.size() * 4096);
    EXPECT_EQ(memory_.hole_bytes(), freed.size() * 4096);
    EXPECT_EQ(sweep(thorough).returned_bytes, 0u) << "nothing is returned twice";
    free(kept);
    EXPECT_EQ(memory_.hole_bytes(), 0u) << "the pages are released";
}

// The background thread ends when sweeps find nothing. What is freed later must be counted, or it would never come
// back.
TEST_F(heap_sweeps, frees_in_pages_that_were_swept_are_worth_another_sweep) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep what is in freed blocks";
    const std::vector<void*> blocks = take(512, 32'768); // 16 MiB
    std::vector<void*> parts[3];
    for (std::size_t each = 0; each < blocks.size(); ++each)
        parts[each % 32 == 0 ? 0 : each % 32 == 1 ? 1 : 2].push_back(blocks[each]);
    free(parts[0]); // every page is listed from here on
    for (int each = 0; each < 3; ++each) sweep(thorough);
    EXPECT_FALSE(memory_.is_worth_sweeping());
    free(parts[2]);
    EXPECT_TRUE(memory_.is_worth_sweeping());
    sweep(thorough);
    EXPECT_GT(sweep(thorough).returned_bytes, 8u << 20);
    free(parts[1]);
}

TEST_F(heap_sweeps, a_page_that_changes_between_sweeps_is_left_alone) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep what is in freed blocks";
    auto [freed, kept] = in_halves(take(4096, 8)); // one page
    free(freed);
    for (int each = 0; each < 5; ++each) {
        EXPECT_EQ(sweep(thorough).returned_bytes, 0u);
        std::vector<void*> one = take(4096, 1);
        free(one);
    }
    EXPECT_EQ(sweep(thorough).returned_bytes, 0u);
    EXPECT_EQ(sweep(thorough).returned_bytes, freed.size() * 4096);
    free(kept);
}

TEST_F(heap_sweeps, a_caller_s_sweep_leaves_what_lies_between_blocks_in_use) {
    const auto [freed, kept] = in_halves(take(4096, 800));
    free(freed);
    for (int each = 0; each < 3; ++each) EXPECT_EQ(sweep({}).returned_bytes, 0u);
    free(kept);
}

TEST_F(heap_sweeps, blocks_that_come_back_are_counted_once_and_as_thrash_if_it_was_soon) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep what is in freed blocks";
    for (const int sweeps : {0, 2}) {
        auto [freed, kept] = in_halves(take(4096, 800));
        free(freed);
        sweep(thorough);
        sweep(thorough);
        const std::size_t holes = memory_.hole_bytes(), thrash = memory_.thrash_bytes();
        ASSERT_EQ(holes, freed.size() * 4096);
        for (int each = 0; each < sweeps; ++each) sweep(thorough);
        const std::vector<void*> again = take(4096, 100);
        EXPECT_EQ(memory_.hole_bytes(), holes - 100 * 4096);
        EXPECT_EQ(memory_.thrash_bytes() - thrash, sweeps == 0 ? 100u * 4096 : 0u);
        free(again);
        sweep(thorough);
        EXPECT_EQ(sweep(thorough).returned_bytes, 100u * 4096) << "only what was touched again";
        free(kept);
        sweep(urgent);
    }
}

TEST_F(heap_sweeps, free_pages_go_back_and_then_their_segments_except_for_one) {
    std::vector<void*> blocks = take(1024, 100'000); // about 98 MiB, four segments
    ASSERT_EQ(pages_.segment_count(), 4u);
    free(blocks);
    EXPECT_EQ(sweep(thorough).returned_bytes, 0u);
    EXPECT_GT(sweep(thorough).returned_bytes, 95u << 20);
    EXPECT_EQ(pages_.segment_count(), 4u);
    for (int each = 0; each < 4; ++each) sweep(thorough);
    EXPECT_EQ(pages_.segment_count(), 1u);
    blocks = take(1024, 100'000);
    EXPECT_EQ(blocks.size(), 100'000u);
    free(blocks);
}

TEST_F(heap_sweeps, an_urgent_sweep_waits_for_nothing) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep what is in freed blocks";
    const auto [freed, kept] = in_halves(take(4096, 800));
    free(freed);
    EXPECT_EQ(sweep(urgent).returned_bytes, freed.size() * 4096);
    free(kept);
    EXPECT_GE(sweep(urgent).returned_bytes, kept.size() * 4096);
}

TEST_F(heap_sweeps, a_release_between_two_segments_ends_the_sweep) {
    const std::vector<void*> blocks = take(1024, 100'000);
    free(blocks);
    auto place = pages_.begin_sweep();
    sweep_result result;
    EXPECT_TRUE(pages_.sweep_some(place, thorough, result));
    pages_.trim();
    EXPECT_EQ(pages_.segment_count(), tenure::checks::caller ? 1u : 0u)
        << "checked builds keep the last page of a size";
    EXPECT_FALSE(pages_.sweep_some(place, thorough, result));
}

/// A block with its stamp at both ends and in every OS page.
struct swept_block {
    unsigned char* at;
    std::size_t bytes;
    unsigned char stamp;

    void fill() const {
        for (std::size_t byte = 0; byte < bytes; byte += 4096) at[byte] = stamp;
        at[bytes - 1] = stamp;
    }
    [[nodiscard]] bool is_whole() const {
        for (std::size_t byte = 0; byte < bytes; byte += 4096) {
            if (at[byte] != stamp) return false;
        }
        return at[bytes - 1] == stamp;
    }
};

TEST(heap_sweep, random_operations_with_sweeps_between_them_keep_every_block) {
    support::random numbers(support::new_seed());
    tenure::counting_source source{tenure::page_source::process()};
    heap_core core(source, max_segment_bytes, tenure::max_object_bytes, tenure::detail::passthrough_form::listed);
    tenure::detail::thread_cache* const cache = core.open_cache();
    std::vector<swept_block> alive;
    std::uint64_t now_ns = 1'000'000'000'000;
    std::size_t returned = 0;
    for (int step = 0; step < 60'000; ++step) {
        const std::uint64_t draw = numbers.below(1000);
        if (draw < 2) {
            now_ns += core.sweep_every_ns() + 1;
            returned += core.sweep(draw == 0 ? urgent : thorough, now_ns).returned_bytes;
        } else if (draw < 4) {
            for (std::size_t left = alive.size() / 2; left != 0; --left) { // many at once, so that whole pages are free
                const std::size_t which = numbers.below(alive.size());
                ASSERT_TRUE(alive[which].is_whole());
                core.deallocate(cache, alive[which].at);
                alive[which] = alive.back();
                alive.pop_back();
            }
        } else if (draw < 400 && !alive.empty()) {
            const std::size_t which = numbers.below(alive.size());
            ASSERT_TRUE(alive[which].is_whole());
            core.deallocate(cache, alive[which].at);
            alive[which] = alive.back();
            alive.pop_back();
        } else {
            const std::size_t most = draw < 990 ? 4096 : std::size_t{1} << 20;
            const std::size_t bytes = 1 + numbers.below(most);
            void* const block = core.allocate(cache, bytes, 16, tenure::detail::fill::none);
            ASSERT_NE(block, nullptr);
            alive.push_back({static_cast<unsigned char*>(block), bytes, static_cast<unsigned char>(step)});
            alive.back().fill();
        }
    }
    EXPECT_TRUE(core.valid());
    EXPECT_GT(returned, 0u);
    for (const swept_block& each : alive) {
        ASSERT_TRUE(each.is_whole());
        core.deallocate(cache, each.at);
    }
    core.close_cache(*cache);
    core.trim(nullptr);
    EXPECT_EQ(core.usage().committed_bytes, 0u);
    EXPECT_EQ(core.memory().hole_bytes(), 0u);
}

}
