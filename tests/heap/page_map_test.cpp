// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/page_map.hpp>

#include <sys/mman.h>

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
#include <tenure/platform/process.hpp>

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

/// The page that contains an address.
std::uintptr_t page_of(const void* at) { return tenure::address_of(at) / page_bytes * page_bytes; }

// Nothing is freed, so the figures are exact in checked builds, too, where blocks begin behind a canary.
TEST_F(page_maps, figures_are_those_of_blocks_that_lie_in_two_os_pages) {
    heap mine;
    const heap_core& core = tenure::detail::core_of(mine);
    constexpr std::size_t asked = 690;
    std::vector<void*> blocks;
    std::set<const void*> guarded;
    for (int each = 0; each < 3000; ++each) {
        blocks.push_back(mine.allocate(asked));
        ASSERT_NE(blocks.back(), nullptr);
        std::memset(blocks.back(), 1, asked);
    }
    const auto note = [](void* to, void* block, std::size_t) {
        static_cast<std::set<const void*>*>(to)->insert(block);
    };
    core.sampled().for_each(note, &guarded);
    core.guarded().for_each(note, &guarded);
    mine.trim();
    std::map<std::uintptr_t, expected> in_use;
    std::size_t block_bytes = 0, shared = 0;
    for (const void* const block : blocks) {
        if (guarded.contains(block)) continue;
        block_bytes = core.profiled(block, asked).bytes;
        expect(in_use, block, block_bytes);
        shared += std::size_t{page_of(block) != page_of(static_cast<const char*>(block) + block_bytes - 1)};
    }
    ASSERT_GT(shared, 100u);
    const auto pages = map_of(mine);
    for (const auto& [address, here] : in_use) {
        const auto found = pages.find(address);
        ASSERT_NE(found, pages.end());
        EXPECT_EQ(found->second.use, format::page_use::small_blocks);
        EXPECT_EQ(found->second.block_bytes, block_bytes);
        EXPECT_EQ(found->second.live_bytes, here.bytes);
        EXPECT_EQ(found->second.blocks, here.blocks);
    }
    for (const auto& [address, run] : pages)
        EXPECT_EQ(tenure::platform::resident_bytes_in(tenure::pointer_at(address), page_bytes), page_bytes);
    for (void* const block : blocks) mine.deallocate(block);
}

TEST_F(page_maps, begin_with_the_records_of_each_segment) {
    heap mine;
    void *const small = mine.allocate(100), *const large = mine.allocate(200'000);
    void* const huge = mine.allocate(std::size_t{40} << 20);
    ASSERT_NE(huge, nullptr);
    std::memset(small, 1, 100);
    std::memset(large, 1, 200'000);
    std::memset(huge, 1, 1);
    const auto pages = map_of(mine);
    const std::size_t segment_bytes = tenure::detail::core_of(mine).memory().segment_bytes();
    for (const void* const block : {small, large}) {
        const std::uintptr_t segment = tenure::address_of(block) / segment_bytes * segment_bytes;
        ASSERT_TRUE(pages.contains(segment));
        EXPECT_EQ(pages.at(segment).use, format::page_use::records);
        EXPECT_EQ(pages.at(segment).blocks, 0u);
    }
    const auto before_huge = pages.find(page_of(huge) - page_bytes);
    ASSERT_NE(before_huge, pages.end());
    EXPECT_EQ(before_huge->second.use, format::page_use::records);
    EXPECT_EQ(pages.at(page_of(huge)).blocks, 1u);
    for (void* const block : {small, large, huge}) mine.deallocate(block);
}

TEST_F(page_maps, all_of_a_segments_head_is_records) {
    using tenure::detail::heap_segment;
    heap mine;
    const std::size_t segment_bytes = tenure::detail::core_of(mine).memory().segment_bytes();
    const std::size_t head_bytes = heap_segment::head_slices(segment_bytes) * tenure::detail::slice_bytes;
    // As many as make the heap use the last records of a segment. Pages of the smallest blocks have long records. Some
    // blocks lie between guard pages: few.
    constexpr std::size_t many = 1000;
    std::vector<void*> blocks;
    std::map<std::uintptr_t, std::size_t> count_of_segment;
    std::uintptr_t first = 0;
    for (std::size_t with_many = 0; with_many < 2;) {
        const std::size_t bytes = blocks.size() % 3000 < 100 ? 1000 : 16;
        blocks.push_back(mine.allocate(bytes));
        ASSERT_NE(blocks.back(), nullptr);
        *static_cast<char*>(blocks.back()) = 1;
        const std::uintptr_t segment = tenure::address_of(blocks.back()) / segment_bytes * segment_bytes;
        if (++count_of_segment[segment] != many) continue;
        if (with_many++ == 0) first = segment;
    }
    std::size_t in_last_slice = 0;
    for (const auto& [address, run] : map_of(mine)) {
        if (address < first || address >= first + head_bytes) continue;
        EXPECT_EQ(run.use, format::page_use::records) << (address - first) / page_bytes;
        in_last_slice += std::size_t{address >= first + head_bytes - tenure::detail::slice_bytes};
    }
    EXPECT_GT(in_last_slice, 0u);
    for (void* const block : blocks) mine.deallocate(block);
}

// Neighbours that are empty alike are of blocks of two sizes.
TEST_F(page_maps, empty_os_pages_have_the_size_of_their_blocks) {
    if (tenure::checks::caller) GTEST_SKIP() << "freed blocks rest, so no page is empty";
    heap mine;
    const heap_core& core = tenure::detail::core_of(mine);
    std::map<std::uintptr_t, std::size_t> size_of_page;
    std::vector<void*> blocks;
    for (int round = 0; round < 40; ++round) {
        for (const std::size_t bytes : {std::size_t{1024}, std::size_t{2048}}) {
            for (std::size_t each = 0; each < 65'536 / bytes; ++each) {
                void* const block = mine.allocate(bytes);
                ASSERT_NE(block, nullptr);
                std::memset(block, 1, bytes);
                if (core.profiled(block, bytes).is_of_class) size_of_page[page_of(block)] = bytes;
                blocks.push_back(block);
            }
        }
    }
    std::vector<void*> kept;
    constexpr std::size_t units = 4; // one block in so many OS pages keeps the heap's page
    for (void* const block : blocks) {
        const bool is_kept = page_of(block) == tenure::address_of(block) && page_of(block) / page_bytes % units == 1;
        if (is_kept) {
            kept.push_back(block);
        } else {
            mine.deallocate(block);
        }
    }
    const auto pages = map_of(mine);
    std::size_t alike = 0;
    for (const auto& [address, run] : pages) {
        const auto known = size_of_page.find(address);
        if (run.use != format::page_use::small_blocks || known == size_of_page.end()) continue;
        EXPECT_EQ(run.block_bytes, known->second);
        const auto next = pages.find(address + page_bytes);
        if (next == pages.end() || next->second.use != run.use) continue;
        const bool is_empty = run.blocks == 0 && next->second.blocks == 0;
        alike += std::size_t{is_empty && next->second.block_bytes != run.block_bytes};
    }
    EXPECT_GT(alike, 0u) << "no such neighbours";
    for (void* const block : kept) mine.deallocate(block);
}

TEST_F(page_maps, what_an_earlier_use_of_a_huge_block_has_touched_is_slack_or_free) {
    if (tenure::checks::caller) GTEST_SKIP() << "freed blocks rest, so none is used again";
    constexpr std::size_t large = std::size_t{40} << 20, less = large - (std::size_t{1} << 20);
    heap mine;
    void* const first = mine.allocate(large);
    ASSERT_NE(first, nullptr);
    std::memset(first, 1, large);
    mine.deallocate(first);
    const std::uintptr_t last = tenure::address_of(first) + large - page_bytes;
    const auto freed = map_of(mine);
    ASSERT_TRUE(freed.contains(last)) << "it is kept for a while";
    EXPECT_EQ(freed.at(last).use, format::page_use::free);
    EXPECT_EQ(freed.at(last).live_bytes, 0u);
    void* const second = mine.allocate(less);
    ASSERT_EQ(second, first);
    const auto used = map_of(mine);
    ASSERT_TRUE(used.contains(last));
    EXPECT_EQ(used.at(last).use, format::page_use::slack);
    EXPECT_EQ(used.at(tenure::address_of(second) + less - page_bytes).use, format::page_use::large_block);
    mine.deallocate(second);
}

/// Receives runs as they are.
struct received_runs {
    std::vector<format::page_run> runs;
    static void add(void* context, std::span<const format::page_run> some) noexcept {
        auto& to = static_cast<received_runs*>(context)->runs;
        to.insert(to.end(), some.begin(), some.end());
    }
};

/// OS pages of which none is in memory.
class fresh_pages {
public:
    explicit fresh_pages(std::size_t count)
        : bytes_(count * page_bytes),
          begin_(static_cast<char*>(
              ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
        ::madvise(begin_, bytes_, MADV_NOHUGEPAGE);
    }
    ~fresh_pages() { ::munmap(begin_, bytes_); }
    fresh_pages(const fresh_pages&) = delete;
    fresh_pages& operator=(const fresh_pages&) = delete;
    [[nodiscard]] char* at(std::size_t page) const { return begin_ + page * page_bytes; }
    void touch(std::size_t first, std::size_t count) const {
        for (std::size_t page = first; page < first + count; ++page) *at(page) = 1;
    }

private:
    std::size_t bytes_;
    char* begin_;
};

TEST(page_map_runs, join_neighbours_that_are_alike_and_no_others) {
    using format::page_use;
    const fresh_pages memory(64);
    memory.touch(0, 64);
    received_runs found;
    {
        const auto map = std::make_unique<page_map>(&received_runs::add, &found);
        map->add(memory.at(0), 2 * page_bytes, page_use::free);
        map->add(memory.at(2), 3 * page_bytes, page_use::free);
        map->add(memory.at(5), page_bytes, page_use::records); // differs in its use alone
        map->add(memory.at(6), page_bytes, page_use::large_block);
        map->add(memory.at(8), page_bytes, page_use::large_block); // page 7 is left out
        map->add(memory.at(9), 1, page_use::slack);                // less than a page
        EXPECT_TRUE(found.runs.empty()) << "passed on in batches";
    }
    ASSERT_EQ(found.runs.size(), 4u);
    const struct {
        std::size_t first;
        std::uint32_t pages;
        page_use use;
    } expected[] = {{0, 5, page_use::free},
                    {5, 1, page_use::records},
                    {6, 1, page_use::large_block},
                    {8, 1, page_use::large_block}};
    for (std::size_t index = 0; index < 4; ++index) {
        EXPECT_EQ(found.runs[index].address, tenure::address_of(memory.at(expected[index].first)));
        EXPECT_EQ(found.runs[index].pages, expected[index].pages);
        EXPECT_EQ(found.runs[index].use, expected[index].use);
        const bool is_block = expected[index].use == page_use::large_block;
        EXPECT_EQ(found.runs[index].live_bytes, is_block ? page_bytes : 0);
        EXPECT_EQ(found.runs[index].blocks, is_block ? 1 : 0);
    }
}

TEST(page_map_runs, are_of_pages_in_memory_alone) {
    const fresh_pages memory(16);
    memory.touch(1, 2);
    memory.touch(9, 1);
    received_runs found;
    {
        std::make_unique<page_map>(&received_runs::add, &found)
            ->add(memory.at(0), 16 * page_bytes, format::page_use::free);
    }
    ASSERT_EQ(found.runs.size(), 2u);
    EXPECT_EQ(found.runs[0].address, tenure::address_of(memory.at(1)));
    EXPECT_EQ(found.runs[0].pages, 2u);
    EXPECT_EQ(found.runs[1].address, tenure::address_of(memory.at(9)));
}

TEST(page_map_runs, are_all_passed_on_however_many_there_are) {
    constexpr std::size_t count = 1000;
    const fresh_pages memory(2 * count);
    memory.touch(0, 2 * count);
    received_runs found;
    {
        const auto map = std::make_unique<page_map>(&received_runs::add, &found);
        for (std::size_t page = 0; page < 2 * count; page += 2)
            map->add(memory.at(page), page_bytes, format::page_use::free);
        EXPECT_GT(found.runs.size(), 0u) << "the map keeps a part at most";
    }
    ASSERT_EQ(found.runs.size(), count);
    for (std::size_t index = 0; index < count; ++index)
        ASSERT_EQ(found.runs[index].address, tenure::address_of(memory.at(2 * index)));
}

}
