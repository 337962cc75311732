// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The rebuilt HPHA design is what its row says: buckets, a tree that merges, memory that returns on request.

#include "bench/experiments/pools/hpha_design.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "bench/experiments/pools/pools_contestant.hpp"
#include "bench/harness/random_source.hpp"
#include "experiments/kept_recorder.hpp"

namespace {

using namespace tenure::lab;

using design = hpha_design<no_lock>;

std::uintptr_t page_of(const void* block) { return reinterpret_cast<std::uintptr_t>(block) / design::page_bytes; }

TEST(hpha_design, blocks_of_one_size_share_a_page_and_other_sizes_have_their_own) {
    design heap;
    void* const first = heap.allocate(8);
    void* const second = heap.allocate(1);
    void* const other = heap.allocate(9);
    EXPECT_EQ(page_of(first), page_of(second));
    EXPECT_NE(page_of(first), page_of(other));
    EXPECT_EQ(static_cast<char*>(second) - static_cast<char*>(first), 8) << "nothing lies between two blocks";
    heap.deallocate(first);
    EXPECT_EQ(heap.allocate(8), first) << "the most recently freed block comes first";
    EXPECT_TRUE(heap.valid());
}

TEST(hpha_design, beyond_256_bytes_the_smallest_block_that_fits_is_taken) {
    design heap;
    std::vector<void*> blocks;
    for (const std::size_t bytes : {1000u, 300u, 2000u, 300u, 600u, 300u}) blocks.push_back(heap.allocate(bytes));
    EXPECT_EQ(static_cast<char*>(blocks[1]) - static_cast<char*>(blocks[0]), 1016) << "a tag of 16 bytes";
    for (const std::size_t i : {0u, 2u, 4u}) heap.deallocate(blocks[i]);
    EXPECT_TRUE(heap.valid());
    EXPECT_EQ(heap.allocate(550), blocks[4]);
    EXPECT_EQ(heap.allocate(950), blocks[0]);
    EXPECT_TRUE(heap.valid());
}

TEST(hpha_design, free_neighbours_are_merged) {
    design heap;
    std::vector<void*> blocks;
    for (int i = 0; i < 6; ++i) blocks.push_back(heap.allocate(300));
    heap.deallocate(blocks[1]);
    heap.deallocate(blocks[3]);
    heap.deallocate(blocks[2]); // between the two
    EXPECT_TRUE(heap.valid());
    EXPECT_EQ(heap.allocate(3 * 320 - 16), blocks[1]);
    EXPECT_TRUE(heap.valid());
}

TEST(hpha_design, memory_returns_on_request_only) {
    design heap;
    std::vector<void*> blocks;
    for (int i = 0; i < 5000; ++i) blocks.push_back(heap.allocate(i % 2 == 0 ? 64 : 400));
    blocks.push_back(heap.allocate(1 << 20));
    const std::size_t all = heap.system_bytes();
    for (void* block : blocks) heap.deallocate(block);
    EXPECT_EQ(heap.system_bytes(), all);
    heap.purge();
    EXPECT_EQ(heap.system_bytes(), 0u);
    EXPECT_FALSE(heap.owns(blocks[0]));
    EXPECT_NE(heap.allocate(400), nullptr);
    EXPECT_TRUE(heap.valid());
}

struct live_block {
    unsigned char* place;
    std::size_t bytes;
    unsigned char fill;

    [[nodiscard]] bool intact() const {
        for (std::size_t i = 0; i < bytes; ++i) {
            if (place[i] != fill) return false;
        }
        return true;
    }
};

TEST(hpha_design, stays_sound_through_random_operations) {
    design heap;
    random_source random(7);
    std::vector<live_block> live;
    for (int step = 0; step < 60'000; ++step) {
        if (live.empty() || random.below(1000) < (step % 20'000 < 10'000 ? 600u : 400u)) {
            const std::size_t bytes = 1 + random.below(random.below(4) == 0 ? 20'000 : 600);
            auto* const place = static_cast<unsigned char*>(heap.allocate(bytes));
            ASSERT_NE(place, nullptr);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(place) % design::alignment, 0u);
            live.push_back({place, bytes, static_cast<unsigned char>(step)});
            std::memset(place, live.back().fill, bytes);
        } else {
            std::swap(live[random.below(live.size())], live.back());
            ASSERT_TRUE(live.back().intact()) << step;
            ASSERT_TRUE(heap.owns(live.back().place));
            heap.deallocate(live.back().place);
            live.pop_back();
        }
        if (step % 500 == 0) {
            ASSERT_TRUE(heap.valid()) << step;
        }
        if (step % 5000 == 0) heap.purge();
    }
    for (const live_block& each : live) {
        ASSERT_TRUE(each.intact());
        heap.deallocate(each.place);
    }
    EXPECT_TRUE(heap.valid());
    heap.purge();
    EXPECT_EQ(heap.system_bytes(), 0u);
}

TEST(hpha_design, passes_every_suite_at_every_size) {
    parameters options(pools_experiment.options);
    options.set("pairs", 10);
    options.set("objects", 5000);
    options.set("repeats", 2);
    options.set("destroys", 20);
    for (const contestant& who : hpha_in_pools()) {
        const auto takes = [&](pool_suite suite, std::size_t size) { return (who.parts & part_bit(suite, size)) != 0; };
        for (std::size_t size = 0; size < pool_object_bytes.size(); ++size) {
            EXPECT_TRUE(takes(pool_suite::pairs, size) && takes(pool_suite::whole, size)) << who.name;
        }
        EXPECT_EQ(takes(pool_suite::two_threads, 0), who.name.find("locked") != std::string_view::npos) << who.name;
        for (std::size_t part = 0; part < pools_experiment.parts.size(); ++part) {
            if ((who.parts >> part & 1u) == 0 || pools_experiment.parts[part].threads != 1) continue;
            kept_recorder found;
            who.run({options, 5, part, found});
            EXPECT_EQ(found.failure, "") << who.name << ", " << pools_experiment.parts[part].name;
            EXPECT_GT(found.shown, 0u) << who.name << ", " << pools_experiment.parts[part].name;
        }
    }
}

}
