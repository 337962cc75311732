// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Handlers of reports that use the heap that reports.

#include <tenure/heap/heap.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/block_source.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>

#include "support/child.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using tenure::heap;

constexpr std::size_t bytes = 64;

heap* used_by_handler = nullptr;
std::array<void*, 600> taken_by_handler{};
std::size_t taken_count = 0;
std::size_t calls = 0;

/// Takes blocks of the size that is being given back, frees every third, and asks for all figures.
void use_heap(tenure::report_kind, std::string_view) noexcept {
    ++calls;
    if (used_by_handler == nullptr) return;
    heap& used = *std::exchange(used_by_handler, nullptr);
    for (std::size_t each = 0; each < taken_by_handler.size(); ++each) {
        void* const block = used.allocate(bytes);
        if (each % 3 == 0) {
            used.deallocate(block);
        } else {
            taken_by_handler[taken_count++] = block;
        }
    }
    (void)used.stats();
    (void)used.usage();
}

class heap_reports : public testing::Test {
protected:
    void SetUp() override {
        if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap is malloc's";
        taken_count = calls = 0;
        used_by_handler = &heap_;
        former_ = tenure::set_report_handler(&use_heap);
    }
    void TearDown() override { tenure::set_report_handler(former_); }

    [[nodiscard]] std::vector<void*> take(std::size_t count) {
        std::vector<void*> blocks(count);
        for (void*& block : blocks) block = heap_.allocate(bytes);
        return blocks;
    }
    /// No block that is in use is handed out again.
    void expect_blocks_apart() {
        EXPECT_EQ(calls, 1u);
        EXPECT_TRUE(heap_.valid());
        EXPECT_EQ(heap_.stats().live_count, taken_count);
        std::set<void*> all(taken_by_handler.begin(),
                            taken_by_handler.begin() + static_cast<std::ptrdiff_t>(taken_count));
        EXPECT_EQ(all.size(), taken_count);
        for (void* const block : take(5000)) EXPECT_TRUE(all.insert(block).second);
    }

    heap heap_;
    tenure::report_handler former_ = nullptr;
};

TEST_F(heap_reports, a_handler_may_use_the_heap_while_a_full_cache_gives_blocks_back) {
    const std::vector<void*> blocks = take(3000);
    heap_.deallocate(blocks[0]);
    heap_.deallocate(blocks[0]);
    for (std::size_t each = 1; each < blocks.size(); ++each) heap_.deallocate(blocks[each]);
    expect_blocks_apart();
}

TEST_F(heap_reports, a_handler_may_use_the_heap_during_trim) {
    const std::vector<void*> blocks = take(300);
    for (void* const block : blocks) heap_.deallocate(block);
    heap_.deallocate(blocks[7]);
    heap_.trim();
    expect_blocks_apart();
}

TEST_F(heap_reports, a_handler_may_use_the_heap_before_a_walk) {
    const std::vector<void*> blocks = take(300);
    for (void* const block : blocks) heap_.deallocate(block);
    heap_.deallocate(blocks[7]);
    std::set<void*> walked;
    heap_.walk([&](void* block, std::size_t) { walked.insert(block); });
    EXPECT_EQ(calls, 1u);
    for (std::size_t each = 0; each < taken_count; ++each) EXPECT_EQ(walked.count(taken_by_handler[each]), 1u);
    expect_blocks_apart();
}

TEST_F(heap_reports, a_handler_may_use_the_heap_at_a_threads_end) {
    support::on_fresh_thread([&] {
        const std::vector<void*> blocks = take(300);
        for (void* const block : blocks) heap_.deallocate(block);
        heap_.deallocate(blocks[7]);
    });
    expect_blocks_apart();
}

// The thread's caches for no tag and for a tag close one after the other: none of them twice.
TEST_F(heap_reports, a_handler_may_use_the_process_heap_at_a_threads_end) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds have no caches";
    heap& process = heap::process();
    used_by_handler = &process;
    support::on_fresh_thread([&] {
        std::vector<void*> blocks;
        for (int each = 0; each < 300; ++each) blocks.push_back(process.allocate(bytes));
        {
            const tenure::tag_scope scope(tenure::tag::named("at a thread's end"));
            process.deallocate(process.allocate(bytes));
        }
        for (void* const block : blocks) process.deallocate(block);
        process.deallocate(blocks[7]);
    });
    EXPECT_EQ(calls, 1u);
    std::set<const void*> caches;
    const auto note_cache = [&] {
        process.deallocate(process.allocate(bytes));
        EXPECT_TRUE(caches.insert(tenure::detail::process_cache()).second) << "another thread has this cache";
    };
    const support::waiting_thread first(note_cache), second(note_cache), third(note_cache);
    EXPECT_TRUE(process.valid());
    for (std::size_t each = 0; each < taken_count; ++each) process.deallocate(taken_by_handler[each]);
}

/// Ignores the alignment from a request on.
class careless_source final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t wanted, std::size_t alignment) noexcept override {
        if (!is_careless) return pages_.acquire(wanted, alignment);
        auto* const memory = static_cast<char*>(pages_.acquire(wanted + 4096, alignment));
        if (memory != nullptr) ++careless_blocks;
        return memory != nullptr ? memory + 4096 : nullptr;
    }
    void release(void* block, std::size_t given) noexcept override {
        const bool is_odd = !tenure::is_aligned(block, tenure::detail::min_segment_bytes);
        if (is_odd) --careless_blocks;
        is_odd ? pages_.release(static_cast<char*>(block) - 4096, given + 4096) : pages_.release(block, given);
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

    bool is_careless = true;
    int careless_blocks = 0;

private:
    tenure::page_source pages_;
};

TEST(heap_source, that_ignores_the_alignment_gets_its_block_back_and_the_allocation_is_refused) {
    if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap is malloc's";
    const support::heard_reports heard;
    careless_source source;
    heap tested({}, source);
    std::size_t refused = 0;
    for (const std::size_t size : {std::size_t{10}, std::size_t{100'000}, std::size_t{40'000'000}}) {
        for (const std::size_t alignment : {std::size_t{16}, std::size_t{64} << 20}) {
            EXPECT_EQ(tested.allocate(size, alignment), nullptr);
            EXPECT_EQ(source.careless_blocks, 0);
            EXPECT_EQ(tested.stats().reserved_bytes, 0u);
            ++refused;
            EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? refused : 0u);
        }
    }
    if (tenure::checks::caller) {
        EXPECT_NE(heard.last().find("ignored the alignment"), std::string::npos) << heard.last();
    }
    source.is_careless = false;
    tested.deallocate(tested.allocate(10));
    EXPECT_EQ(tested.stats().live_count, 0u);
}

/// Moves blocks to a page past where it is asked to.
class straying_source final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t wanted, std::size_t alignment) noexcept override {
        return pages_.acquire(wanted, alignment);
    }
    void release(void* block, std::size_t given) noexcept override {
        const bool is_odd = !tenure::is_aligned(block, tenure::detail::min_segment_bytes);
        is_odd ? pages_.release(static_cast<char*>(block) - 4096, given + 4096) : pages_.release(block, given);
    }
    [[nodiscard]] void* remap(void* block, std::size_t before, std::size_t now, std::size_t) noexcept override {
        ++moves;
        auto* const odd = static_cast<char*>(pages_.acquire(now + 4096, 4096)) + 4096;
        std::memcpy(odd, block, std::min(before, now));
        pages_.release(block, before);
        return odd;
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

    int moves = 0;

private:
    tenure::page_source pages_;
};

TEST(heap_source, that_moves_a_block_elsewhere_than_asked_costs_a_copy) {
    if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap is malloc's";
    const support::heard_reports heard;
    straying_source source;
    heap tested({}, source);
    const std::size_t size = 40'000'000;
    auto* block = static_cast<unsigned char*>(tested.allocate(size));
    ASSERT_NE(block, nullptr);
    std::memset(block, 7, size);
    block = static_cast<unsigned char*>(tested.reallocate(block, 3 * size));
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(tested.owns(block));
    EXPECT_EQ(std::count(block, block + size, 7), static_cast<std::ptrdiff_t>(size));
    EXPECT_GE(tested.usable_size(block), 3 * size);
    tested.deallocate(block);
    // In checked builds a block that grows is copied by the heap.
    EXPECT_EQ(source.moves != 0, !tenure::checks::caller);
    EXPECT_TRUE(tested.valid());
    EXPECT_EQ(tested.stats().live_count, 0u);
}

}
