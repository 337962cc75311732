// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Sweeps and refused requests over sources other than the system's pages: memory that is not zeroed, that cannot be
// decommitted, or that has an end.

#include <tenure/heap/heap.hpp>

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace {

using tenure::detail::class_bytes;
using tenure::detail::heap_memory;
using tenure::detail::heap_pages;
using tenure::detail::heap_shard;
using tenure::detail::max_segment_bytes;
using tenure::detail::small_class_count;
using tenure::detail::sweep_result;
using tenure::detail::sweep_scope;

/// Pages of the system that are full of what somebody has left there, and stay when they are decommitted.
class used_source final : public tenure::block_source {
public:
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        void* const block = tenure::page_source::process().acquire(bytes, alignment);
        if (block != nullptr) std::memset(block, 0xA5, bytes);
        return block;
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    bool extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override {
        if (!tenure::page_source::process().extend(block, old_bytes, new_bytes)) return false;
        if (new_bytes > old_bytes) std::memset(static_cast<char*>(block) + old_bytes, 0xA5, new_bytes - old_bytes);
        return true;
    }
    bool decommit(void*, std::size_t) noexcept override { return false; }
    tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
};

class used_memory : public testing::Test {
protected:
    ~used_memory() override { EXPECT_TRUE(shard_.valid()); }

    std::vector<void*> take(std::size_t class_index, std::size_t count) {
        std::vector<void*> blocks(count);
        blocks.resize(shard_.refill(class_index, blocks.data(), count));
        for (void* const block : blocks) {
            tenure::platform::unpoison(block, class_bytes(class_index)); // as the heap does
            std::memset(block, 1, class_bytes(class_index));
        }
        return blocks;
    }
    sweep_result sweep(sweep_scope scope) {
        memory_.begin_sweep();
        sweep_result result;
        auto place = pages_.begin_sweep();
        while (pages_.sweep_some(place, scope, result)) {}
        return result;
    }

    used_source source_;
    heap_memory memory_{source_};
    heap_pages pages_{memory_};
    heap_shard shard_{pages_};
};

TEST_F(used_memory, is_swept_like_any_other) {
    std::vector<std::vector<void*>> taken;
    for (std::size_t index = 0; index < small_class_count; ++index) taken.push_back(take(index, 100));
    for (const std::vector<void*>& blocks : taken)
        heap_shard::flush(blocks.data(), blocks.size() / 2, max_segment_bytes);
    for (const bool is_urgent : {false, false, false, true})
        EXPECT_EQ(sweep({.is_thorough = true, .is_urgent = is_urgent}).returned_bytes, 0u);
    for (const std::vector<void*>& blocks : taken)
        heap_shard::flush(blocks.data() + blocks.size() / 2, blocks.size() - blocks.size() / 2, max_segment_bytes);
}

TEST_F(used_memory, that_cannot_be_decommitted_stays_committed) {
    const std::vector<void*> blocks = take(tenure::detail::class_of(1024), 20'000);
    heap_shard::flush(blocks.data(), blocks.size(), max_segment_bytes);
    const std::size_t before = pages_.committed_bytes();
    for (int each = 0; each < 4; ++each) sweep({.is_thorough = true});
    EXPECT_EQ(pages_.committed_bytes(), before);
    const std::vector<void*> again = take(tenure::detail::class_of(1024), 20'000);
    EXPECT_EQ(memory_.thrash_bytes(), 0u) << "nothing was returned that could be touched again";
    heap_shard::flush(again.data(), again.size(), max_segment_bytes);
}

// A page that becomes free while a request fails is room, whether or not the source takes its memory back.
TEST(scarce_memory, what_the_callers_cache_holds_serves_other_sizes) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep freed blocks apart";
    constexpr std::size_t bytes = std::size_t{1} << 20, slice = 32 * 1024;
    static unsigned char memory[bytes];
    tenure::static_buffer_source source(memory, bytes);
    tenure::heap tested({}, source);
    std::vector<void*> blocks;
    while (void* const block = tested.allocate(1000)) blocks.push_back(block);
    ASSERT_GT(blocks.size(), 200u);
    const auto slice_of = [](const void* block) { return tenure::address_of(block) / slice; };
    const std::size_t middle = slice_of(blocks[blocks.size() / 2]);
    for (void*& block : blocks) {
        if (slice_of(block) != middle) continue;
        tested.deallocate(block);
        block = nullptr;
    }
    void* const other = tested.allocate(300);
    EXPECT_NE(other, nullptr);
    tested.deallocate(other);
    for (void* const block : blocks) tested.deallocate(block);
}

// Making room empties the caller's caches, and shrinks them, while a request is under way.
TEST(scarce_memory, the_room_that_a_request_finds_fits_into_its_cache) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep freed blocks apart";
    constexpr std::size_t bytes = std::size_t{2} << 20, slice = 32 * 1024;
    static unsigned char memory[bytes];
    tenure::static_buffer_source source(memory, bytes);
    tenure::heap tested({}, source);
    const auto take = [&](std::size_t size, std::size_t count) {
        std::vector<void*> blocks;
        while (blocks.size() < count) {
            void* const block = tested.allocate(size);
            if (block == nullptr) break;
            blocks.push_back(block);
        }
        return blocks;
    };
    const auto free_all = [&](const std::vector<void*>& blocks) {
        for (void* const block : blocks) tested.deallocate(block);
    };
    std::vector<void*> next_size = take(80, 30);
    std::vector<void*> small = take(64, 10'000);
    std::vector<void*> others = take(1000, bytes); // all that is left
    ASSERT_GT(others.size(), 200u);
    for (void* const block : take(64, bytes)) small.push_back(block); // and these have no room left either
    const std::size_t all = small.size();
    free_all(small);
    small = take(64, all); // the cache is large now, and empty
    ASSERT_EQ(small.size(), all);
    const std::size_t middle = tenure::address_of(others[others.size() / 2]) / slice;
    const auto in_the_middle = [&](const void* block) { return tenure::address_of(block) / slice == middle; };
    for (void* const block : others) {
        if (in_the_middle(block)) tested.deallocate(block);
    }
    std::erase_if(others, in_the_middle);
    std::vector<void*> found = take(64, 100); // of the page that is free now
    ASSERT_EQ(found.size(), 100u);
    free_all(next_size);
    free_all(found);
    next_size = take(80, 30);
    for (void* const block : next_size) EXPECT_EQ(tested.usable_size(block), 80u);
    free_all(next_size);
    free_all(small);
    free_all(others);
    EXPECT_EQ(tested.stats().live_count, 0u);
    EXPECT_TRUE(tested.valid());
}

}
