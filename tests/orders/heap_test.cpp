// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// src/tenure/heap/detail/small/heap_shard.cpp, explored: blocks that other threads free, and pages that go from one
// shard to another while a sweep looks at them. heap_pages has one page here; its functions below have the atomic
// operations of heap_pages.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/linked_list.hpp>
#include <tenure/base/report.hpp>

#define TENURE_EXPLORED explored_heap
#include "orders/explored.hpp"
#include "orders/explored_lock.hpp"
#include "orders/needs.hpp"
#include "orders/sources.hpp"

#include <tenure/heap/detail/small/heap_shard.cpp>

namespace {

using orders::run;
namespace detail = tenure::TENURE_EXPLORED::detail;
using detail::heap_pages;
using detail::heap_segment;
using detail::heap_shard;
using detail::small_page;

struct no_source final : tenure::block_source {
    void* acquire(std::size_t, std::size_t) noexcept override { return nullptr; }
    void release(void*, std::size_t) noexcept override {}
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
};
no_source source_of_none;

constexpr std::size_t segment_bytes = detail::min_segment_bytes;
constexpr std::size_t page_slice = 1;
alignas(segment_bytes) unsigned char segment_memory[segment_bytes];

/// A class whose pages have one slice and own bits.
[[nodiscard]] constexpr std::size_t find_class() {
    std::size_t index = 0;
    while (detail::has_long_bits(index) || detail::slices_of_page(index) != 1) ++index;
    return index;
}
constexpr std::size_t class_index = find_class();

struct shards_state {
    detail::heap_memory memory{source_of_none, segment_bytes};
    heap_pages pages{memory};
    heap_shard first{pages};
    bool is_page_used = false; ///< under the lock of the pages
    void* block = nullptr;
    orders::atomic<void*> passed{nullptr};
};
shards_state* shards_now = nullptr;

[[nodiscard]] heap_segment& the_segment() { return *static_cast<heap_segment*>(static_cast<void*>(segment_memory)); }
[[nodiscard]] small_page& the_page() { return the_segment().pages[page_slice]; }

}

namespace tenure::inline TENURE_ABI::detail {

small_page* heap_pages::allocate(std::size_t index, bool) noexcept {
    {
        const platform::lock_guard lock(mutex_);
        if (shards_now->is_page_used) return nullptr;
        shards_now->is_page_used = true;
    }
    small_page& page = the_page();
    orders::note_write(&page, "the record of a page");
    page.class_index = static_cast<std::uint8_t>(index);
    the_segment().set_number(page_slice, page.class_index);
    page.samples_and_tagged.store(0, std::memory_order_relaxed);
    page.begin = address_of(segment_memory) + page_slice * slice_bytes;
    page.words_with_free = 0;
    page.block_bytes = static_cast<std::uint32_t>(class_bytes(index));
    page.capacity = static_cast<std::uint16_t>(blocks_in_page(index));
    page.free_count = 0;
    page.words_used = 0;
    page.is_listed = page.has_purged = false;
    page.age.store(page_age::changed, std::memory_order_relaxed);
    page.bits = page.own_bits;
    std::memset(page.bits, 0, page.word_count() * sizeof(bit_word));
    the_segment().first_slice[page_slice] = page_slice;
    return &page;
}

void heap_pages::deallocate(small_page& page) noexcept {
    page.owner.store(nullptr, std::memory_order_relaxed);
    const platform::lock_guard lock(mutex_);
    shards_now->is_page_used = false;
}

void heap_pages::release_all() noexcept {}

/// What a sweep does with a page under its owner's lock.
std::size_t purge_free_units(small_page& page, heap_memory&, std::uint16_t) noexcept {
    orders::require(page.owner.load(std::memory_order_relaxed)->mutex().is_mine(), "a page without its owner's lock");
    orders::note_write(&page, "the record of a page");
    return 0;
}
void forget_purged_units(small_page&, heap_memory&, std::uintptr_t, std::uintptr_t) noexcept {}
canary_keys keys_of_canaries() noexcept { return {}; }

}

namespace {

[[nodiscard]] shards_state& make_shards(run& r) {
    std::memset(segment_memory, 0, sizeof(heap_segment) - sizeof(small_page) * (detail::max_slices - 8));
    shards_state& s = r.make<shards_state>();
    shards_now = &s;
    return s;
}

[[nodiscard]] void* allocate_from(heap_shard& shard) {
    void* block = nullptr;
    if (shard.refill(class_index, &block, 1) != 1) return nullptr;
    orders::note_write(block, "a block");
    return block;
}

// One thread allocates and passes a block on, another frees it, and the first allocates again.
void freed_by_another(run& r) {
    shards_state& s = make_shards(r);
    r.thread([&s] {
        void* const kept = allocate_from(s.first);
        void* const block = allocate_from(s.first);
        s.passed.store(block, std::memory_order_release);
        heap_shard::flush(&kept, 1, segment_bytes);
        void* const again = allocate_from(s.first);
        orders::require(again != nullptr, "no block");
    });
    r.thread([&s] {
        void* const block = s.passed.await_other(nullptr, std::memory_order_acquire);
        orders::note_write(block, "a block");
        heap_shard::flush(&block, 1, segment_bytes);
    });
    r.at_end([&s] { orders::require(s.first.valid(), "a shard is broken"); });
}

// The last block of a page is freed, so the page is released, and perhaps used by a shard that was just made; a sweep
// looks at it meanwhile.
template<void (*Look)(shards_state&)>
void looked_at(run& r) {
    shards_state& s = make_shards(r);
    s.block = allocate_from(s.first);
    r.thread([&s] { heap_shard::flush(&s.block, 1, segment_bytes); });
    r.thread([&s] {
        void* const memory = orders::map(sizeof(heap_shard), alignof(heap_shard));
        auto* const second = ::new (memory) heap_shard(s.pages);
        static_cast<void>(allocate_from(*second));
    });
    r.thread([&s] { Look(s); });
}
void purge(shards_state& s) {
    bool is_awaited = false;
    static_cast<void>(heap_shard::purge_page(the_page(), s.memory, is_awaited));
}
void copy(shards_state&) {
    detail::page_in_use use;
    if (heap_shard::copy_use(the_page(), use))
        orders::require(use.block_bytes == detail::class_bytes(class_index), "a page without its size");
}

TEST(heap_orders, a_block_goes_to_its_page_and_a_page_to_another_shard) {
    orders::expect_needs({freed_by_another, looked_at<purge>, looked_at<copy>},
                         {
                             "heap_shard::copy_use load: acquire -> relaxed",
                             "heap_shard::page_with_blocks store: release -> relaxed",
                             "heap_shard::purge_page load: acquire -> relaxed",
                             "mutex::try_lock compare_exchange: acquire -> relaxed",
                             "mutex::unlock exchange: release -> relaxed",
                             "{anonymous}::freed_by_another load: acquire -> relaxed",
                             "{anonymous}::freed_by_another store: release -> relaxed",
                         },
                         {
                             // Who has a block sees its page's owner. It is for blocks freed twice.
                             "heap_shard::flush load: acquire -> relaxed",
                         });
}

TEST(heap_orders, the_copy_of_the_pages_is_that_of_the_source) {
    orders::expect_in_source("heap/detail/small/heap_pages.cpp",
                             {"page.owner.store(nullptr, std::memory_order_relaxed);",
                              "page.age.store(page_age::changed, std::memory_order_relaxed);"});
    orders::expect_in_source("heap/detail/purge/heap_pages_sweep.cpp",
                             {"page.owner.load(std::memory_order_acquire) == nullptr"});
}

}
