// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/small/heap_shard.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/sanitizer.hpp>

#include "support/random.hpp"
#include "support/reports.hpp"

namespace {

using tenure::detail::class_bytes;
using tenure::detail::class_of;
using tenure::detail::heap_memory;
using tenure::detail::heap_pages;
using tenure::detail::heap_shard;
using tenure::detail::max_segment_bytes;
using tenure::detail::small_class_count;

class heap_shards : public testing::Test {
protected:
    ~heap_shards() override { EXPECT_TRUE(shard_.valid() && other_.valid()); }

    std::vector<void*> take(heap_shard& from, std::size_t index, std::size_t count) {
        std::vector<void*> blocks(count);
        blocks.resize(from.refill(index, blocks.data(), count));
        for (void* const block : blocks) tenure::platform::unpoison(block, class_bytes(index)); // as the heap does
        return blocks;
    }

    tenure::counting_source source_{tenure::page_source::process()};
    heap_memory memory_{source_};
    heap_pages pages_{memory_};
    heap_shard shard_{pages_}, other_{pages_};
};

TEST_F(heap_shards, blocks_of_every_class_are_whole_aligned_and_apart) {
    std::map<std::uintptr_t, std::size_t> taken; // begin, bytes
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const std::size_t bytes = class_bytes(index);
        const std::size_t alignment = bytes & (~bytes + 1);
        for (void* const block : take(shard_, index, 300)) {
            ASSERT_EQ(tenure::address_of(block) % alignment, 0u) << bytes;
            std::memset(block, static_cast<int>(index), bytes);
            const auto [place, is_new] = taken.emplace(tenure::address_of(block), bytes);
            ASSERT_TRUE(is_new);
            if (place != taken.begin()) {
                ASSERT_LE(std::prev(place)->first + std::prev(place)->second, place->first);
            }
            if (std::next(place) != taken.end()) {
                ASSERT_LE(place->first + bytes, std::next(place)->first);
            }
        }
        EXPECT_EQ(shard_.usage_of(index).allocated, 300u);
    }
    EXPECT_EQ(taken.size(), 300 * small_class_count);
}

TEST_F(heap_shards, a_batch_ends_with_its_lowest_address) {
    const std::vector<void*> blocks = take(shard_, class_of(64), 200);
    EXPECT_TRUE(std::is_sorted(blocks.rbegin(), blocks.rend()));
    heap_shard::flush(blocks.data(), blocks.size(), max_segment_bytes);
    EXPECT_EQ(take(shard_, class_of(64), 200), blocks) << "freed blocks come back in the order of addresses";
}

TEST_F(heap_shards, long_pages_freed_in_full_segments_are_used_before_the_heap_grows) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep the last page of a size";
    constexpr std::size_t bytes = 32'768, per_page = 8;
    const std::size_t index = class_of(bytes);
    const std::vector<void*> blocks = take(shard_, index, 512 * per_page); // 128 MiB
    const std::size_t mapped = source_.live_bytes();
    ASSERT_GE(pages_.segment_count(), 4u);
    std::vector<void*> freed;
    for (const std::size_t page : {3u, 100u, 101u, 400u}) {
        const std::uintptr_t begin = tenure::address_of(blocks[page * per_page]) & ~(per_page * bytes - 1);
        for (void* const block : blocks) {
            if (tenure::address_of(block) - begin < per_page * bytes) freed.push_back(block);
        }
    }
    ASSERT_EQ(freed.size(), 4 * per_page);
    heap_shard::flush(freed.data(), freed.size(), max_segment_bytes);
    std::vector<void*> again = take(shard_, index, freed.size());
    std::sort(freed.begin(), freed.end());
    std::sort(again.begin(), again.end());
    EXPECT_EQ(again, freed);
    EXPECT_EQ(source_.live_bytes(), mapped);
}

TEST_F(heap_shards, random_batches_agree_with_a_model) {
    support::random numbers(support::new_seed());
    std::set<void*> alive[small_class_count];
    heap_shard* const shards[] = {&shard_, &other_};
    for (int step = 0; step < 4000; ++step) {
        const std::size_t index = numbers.below(small_class_count);
        if (numbers.one_in(2)) {
            for (void* const block : take(*shards[numbers.below(2)], index, numbers.below(200) + 1)) {
                ASSERT_TRUE(alive[index].insert(block).second) << "handed out twice";
                ASSERT_EQ(memory_.kind_of(block), tenure::detail::head_kind::segment);
            }
        } else {
            // What is given back is of both shards, of several classes, and in no order.
            std::vector<void*> batch;
            for (std::size_t each : {index, (index + 7) % small_class_count}) {
                std::vector<void*> all(alive[each].begin(), alive[each].end());
                for (std::size_t left = all.size(); left > 1; --left)
                    std::swap(all[left - 1], all[numbers.below(left)]);
                all.resize(std::min<std::size_t>(all.size(), numbers.below(150)));
                for (void* const block : all) alive[each].erase(block);
                batch.insert(batch.end(), all.begin(), all.end());
            }
            heap_shard::flush(batch.data(), batch.size(), max_segment_bytes);
        }
        if (step % 64 == 0) {
            ASSERT_TRUE(shard_.valid() && other_.valid());
            for (std::size_t each = 0; each < small_class_count; ++each) {
                ASSERT_EQ(shard_.usage_of(each).allocated + other_.usage_of(each).allocated, alive[each].size());
            }
        }
    }
    for (auto& each : alive) {
        const std::vector<void*> all(each.begin(), each.end());
        heap_shard::flush(all.data(), all.size(), max_segment_bytes);
    }
    shard_.release_empty_pages();
    other_.release_empty_pages();
    for (std::size_t each = 0; each < small_class_count; ++each) EXPECT_EQ(shard_.usage_of(each).pages, 0u);
    pages_.trim();
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_F(heap_shards, empty_pages_serve_other_classes) {
    for (int round = 0; round < 20; ++round) {
        for (std::size_t index = 0; index < small_class_count; ++index) {
            const std::vector<void*> blocks = take(shard_, index, 8'000'000 / class_bytes(index));
            heap_shard::flush(blocks.data(), blocks.size(), max_segment_bytes);
        }
        shard_.release_empty_pages();
    }
    EXPECT_EQ(pages_.segment_count(), 1u) << "8 MB at a time fit in one";
}

TEST_F(heap_shards, a_refusal_gives_what_there_is_and_changes_nothing_else) {
    constexpr std::size_t extensions = tenure::checks::caller ? 4 : 5; // from 1 MiB, or 2, to 32
    tenure::failing_source failing(source_, 1 + extensions);
    heap_memory memory(failing);
    heap_pages pages(memory);
    heap_shard shard(pages);
    const std::size_t index = class_of(32'768);
    std::vector<void*> blocks = take(shard, index, 2000); // a segment has fewer
    EXPECT_LT(blocks.size(), 1100u);
    // In checked builds the room of one block in eight is a gap in front of the first.
    EXPECT_GT(blocks.size(), tenure::checks::caller ? 800u : 900u);
    EXPECT_TRUE(take(shard, index, 1).empty());
    EXPECT_EQ(shard.usage_of(index).allocated, blocks.size());
    EXPECT_TRUE(shard.valid());
    failing.allow(1);
    EXPECT_EQ(take(shard, index, 1).size(), 1u);
}

TEST_F(heap_shards, a_double_free_is_found_when_it_is_written) {
    const support::heard_reports heard;
    const std::vector<void*> blocks = take(shard_, class_of(100), 10);
    heap_shard::flush(blocks.data(), 1, max_segment_bytes);
    heap_shard::flush(blocks.data(), 1, max_segment_bytes);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(shard_.usage_of(class_of(100)).allocated, 9u);
    void* const twice[] = {blocks[1], blocks[1]};
    heap_shard::flush(twice, 2, max_segment_bytes);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u);
    EXPECT_EQ(shard_.usage_of(class_of(100)).allocated, 8u);
}

}
