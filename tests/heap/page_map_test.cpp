// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/page_map.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/heap.hpp>

#include "support/random.hpp"

namespace {

namespace format = tenure::profile_format;
using tenure::heap;
using tenure::detail::heap_core;
using tenure::detail::page_map;

constexpr std::uintptr_t page_bytes = format::page_bytes;

/// The map of a heap, by page.
std::map<std::uintptr_t, format::page_run> map_of(const heap& of) {
    std::map<std::uintptr_t, format::page_run> pages;
    const auto receive = [](void* context, std::span<const format::page_run> runs) noexcept {
        auto& to = *static_cast<std::map<std::uintptr_t, format::page_run>*>(context);
        for (const format::page_run& each : runs) {
            for (std::uint32_t page = 0; page < each.pages; ++page)
                EXPECT_TRUE(to.emplace(each.address + page * page_bytes, each).second) << "two runs have one page";
        }
    };
    {
        const auto map = std::make_unique<page_map>(receive, &pages);
        tenure::detail::core_of(of).map_pages(*map);
    }
    return pages;
}

class page_maps : public testing::Test {
protected:
    void SetUp() override {
        if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap's blocks are malloc's";
    }
    /// Bytes and blocks in use of each page, from the blocks themselves.
    struct expected {
        std::size_t bytes = 0, blocks = 0;
    };
    void expect(std::map<std::uintptr_t, expected>& to, const void* block, std::size_t bytes) const {
        const std::uintptr_t begin = tenure::address_of(block);
        for (std::uintptr_t at = begin; at < begin + bytes;) {
            const std::uintptr_t page = at / page_bytes * page_bytes;
            const std::uintptr_t next = std::min(begin + bytes, page + page_bytes);
            to[page].bytes += next - at;
            ++to[page].blocks;
            at = next;
        }
    }
};

TEST_F(page_maps, say_what_the_blocks_in_use_take_of_each_page) {
    heap mine;
    const heap_core& core = tenure::detail::core_of(mine);
    support::random numbers(11);
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (int each = 0; each < 20'000; ++each) {
        const std::size_t bytes = numbers.one_in(8) ? 1 + numbers.below(30'000) : 1 + numbers.below(500);
        void* const block = mine.allocate(bytes);
        ASSERT_NE(block, nullptr);
        std::memset(block, 1, bytes);
        blocks.emplace_back(block, bytes);
    }
    std::set<const void*> guarded; // between guard pages, so in none of the heap's
    const auto note = [](void* to, void* block, std::size_t) {
        static_cast<std::set<const void*>*>(to)->insert(block);
    };
    core.sampled().for_each(note, &guarded);
    core.guarded().for_each(note, &guarded);
    std::map<std::uintptr_t, expected> in_use, written;
    for (auto& [block, bytes] : blocks) {
        if (numbers.one_in(5)) {
            if (guarded.contains(block)) continue;
            expect(in_use, block, core.profiled(block, bytes).bytes);
            expect(written, block, bytes); // the rest of the block may lie in a page that nobody has touched
        } else {
            mine.deallocate(block);
            block = nullptr;
        }
    }
    mine.trim(); // empties the caches, whose blocks count as in use
    const auto pages = map_of(mine);
    std::size_t empty = 0, records = 0;
    for (const auto& [address, run] : pages) {
        records += std::size_t{run.use == format::page_use::records};
        if (run.use != format::page_use::small_blocks) continue;
        const auto known = in_use.find(address);
        const expected here = known == in_use.end() ? expected{} : known->second;
        empty += std::size_t{here.blocks == 0};
        if (tenure::checks::caller) { // freed blocks rest, and count as in use
            EXPECT_GE(run.blocks, here.blocks);
        } else {
            EXPECT_EQ(run.blocks, here.blocks);
            EXPECT_EQ(run.live_bytes, here.bytes);
        }
        EXPECT_LE(run.live_bytes, page_bytes);
        EXPECT_GT(run.block_bytes, 0u);
    }
    EXPECT_GT(records, 0u);
    for (const auto& [address, here] : written) EXPECT_TRUE(pages.contains(address)) << "it has been written to";
    for (const auto& [block, bytes] : blocks) mine.deallocate(block);
}

TEST_F(page_maps, say_which_pages_are_of_large_and_huge_blocks_and_which_are_free) {
    heap mine;
    const heap_core& core = tenure::detail::core_of(mine);
    constexpr std::size_t large = 200'000, huge = std::size_t{40} << 20;
    void *const kept = mine.allocate(large), *const gone = mine.allocate(large), *const giant = mine.allocate(huge);
    ASSERT_NE(giant, nullptr);
    std::memset(kept, 1, large);
    std::memset(gone, 1, large);
    std::memset(giant, 1, 100'000); // the rest is not in memory
    const auto use_of = [](const auto& pages, const void* at) {
        const auto found = pages.find(tenure::address_of(at) / page_bytes * page_bytes);
        return found == pages.end() ? format::page_use{} : found->second.use;
    };
    const auto at = [](void* block, std::size_t bytes) { return static_cast<char*>(block) + bytes; };
    const auto before = map_of(mine);
    for (void* const block : {kept, gone, giant}) {
        EXPECT_EQ(use_of(before, block), format::page_use::large_block);
        EXPECT_EQ(use_of(before, at(block, 99'000)), format::page_use::large_block);
    }
    EXPECT_EQ(use_of(before, at(giant, huge / 2)), format::page_use{}) << "not in memory";
    EXPECT_EQ(before.at(tenure::address_of(at(kept, 8192)) / page_bytes * page_bytes).live_bytes, page_bytes);
    mine.deallocate(gone);
    if (!tenure::checks::caller) {
        const auto after = map_of(mine);
        EXPECT_EQ(use_of(after, kept), format::page_use::large_block);
        EXPECT_EQ(use_of(after, at(gone, 8192)), format::page_use::free);
    }
    EXPECT_GE(core.usage().resident_bytes / page_bytes, before.size() / 2);
    mine.deallocate(kept);
    mine.deallocate(giant);
}

}
