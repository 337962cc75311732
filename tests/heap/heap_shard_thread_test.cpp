// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/small/heap_shard.hpp>

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/sanitizer.hpp>

#include "support/random.hpp"

namespace {

using tenure::detail::class_bytes;
using tenure::detail::heap_memory;
using tenure::detail::heap_pages;
using tenure::detail::heap_shard;
using tenure::detail::max_segment_bytes;
using tenure::detail::small_class_count;

TEST(heap_shard, blocks_keep_their_contents_on_their_way_between_threads) {
    constexpr std::size_t thread_count = 4;
    tenure::counting_source source(tenure::page_source::process());
    {
        heap_memory memory(source);
        heap_pages pages(memory);
        std::array<std::unique_ptr<heap_shard>, thread_count> shards;
        for (auto& each : shards) each = std::make_unique<heap_shard>(pages);
        std::mutex mutex;
        std::deque<std::vector<void*>> on_their_way;
        std::vector<std::thread> threads;
        for (std::size_t index = 0; index < thread_count; ++index) {
            threads.emplace_back([&, index] {
                support::random numbers(index + 1);
                for (int round = 0; round < 1500; ++round) {
                    const std::size_t class_index = numbers.below(small_class_count);
                    std::vector<void*> batch(numbers.below(100) + 1);
                    ASSERT_EQ(shards[index]->refill(class_index, batch.data(), batch.size()), batch.size());
                    for (void* const block : batch) {
                        tenure::platform::unpoison(block, class_bytes(class_index)); // as the heap does
                        std::memset(block, static_cast<int>(class_index), 8);
                    }
                    if (numbers.one_in(50)) shards[index]->release_empty_pages();
                    std::vector<void*> received;
                    {
                        const std::lock_guard lock(mutex);
                        on_their_way.push_back(std::move(batch));
                        if (on_their_way.size() < 20) continue;
                        received = std::move(on_their_way.front());
                        on_their_way.pop_front();
                    }
                    const auto* const first = static_cast<const unsigned char*>(received.front());
                    for (void* const block : received) ASSERT_EQ(std::memcmp(block, first, 8), 0);
                    heap_shard::flush(received.data(), received.size(), max_segment_bytes);
                }
            });
        }
        for (std::thread& each : threads) each.join();
        for (const auto& batch : on_their_way) heap_shard::flush(batch.data(), batch.size(), max_segment_bytes);
        for (auto& each : shards) {
            EXPECT_TRUE(each->valid());
            for (std::size_t index = 0; index < small_class_count; ++index)
                EXPECT_EQ(each->usage_of(index).allocated, 0u);
            each->release_empty_pages();
        }
        pages.trim();
        EXPECT_EQ(source.live_blocks(), 0u);
    }
}

}
