// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <atomic>
#include <cstring>

#include <tenure/engine/local_cache.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/detail/checked/record_memory.hpp>
#include <tenure/heap/detail/profile/profile_records.hpp>
#include <tenure/heap/detail/profile/sampling.hpp>
#include <tenure/heap/detail/small/small_blocks.hpp>

// Counting allocations for the heap profile, without an instruction in the inline paths.
//
// While a heap counts, the slices of its pages have other numbers: the class plus counted_classes. An inline free
// therefore pushes the block to another entry of the thread's cache, the stock, from which no inline allocation pops.
// An allocation pops from the entry of its class, as ever. The slow path fills that entry, from the stock or the pages,
// and never with more blocks than there are allocations before the next one of the profile. So each allocation of a
// thread is counted, and the one that is to be recorded is always a slow call.
//
// The page of a recorded block has a number whose entry has no room, so that its frees are slow calls as well.

namespace tenure::inline TENURE_ABI::detail {

// Pages.

std::uint8_t heap_pages::number_of(const small_page& page) const noexcept {
    if (page.is_tagged()) return tagged_class; // the slow path reads the record in any case
    if (page.samples() != 0) return watched_class;
    const bool is_counted = counted_in_.load(std::memory_order_relaxed) != 0;
    return static_cast<std::uint8_t>(page.class_index + (is_counted ? counted_classes : 0));
}

/// Requires  the lock.
void heap_pages::set_numbers(heap_segment& segment, const small_page& page) const noexcept {
    const auto slice = static_cast<std::size_t>(&page - segment.pages);
    const std::uint8_t number = number_of(page);
    for (std::size_t each = 0; each < slices_of_page(page.class_index); ++each)
        segment.set_number(slice + each, number);
}

void heap_pages::count_allocations(bool are_counted) noexcept {
    const platform::lock_guard lock(mutex_);
    if (are_counted) ++profiles_;
    counted_in_.store(are_counted ? profiles_ : 0, std::memory_order_release);
    for_each_page(
        [](void* pages, small_page& page) {
            const auto& mine = *static_cast<heap_pages*>(pages);
            page.set_samples(0);
            mine.set_numbers(*static_cast<heap_segment*>(segment_head::of(&page, mine.memory().segment_bytes())), page);
        },
        this);
}

void heap_pages::watch(const void* block) noexcept {
    const platform::lock_guard lock(mutex_);
    auto& segment = *static_cast<heap_segment*>(segment_head::of(block, memory_.segment_bytes()));
    small_page& page = heap_segment::page_of(block, memory_.segment_bytes());
    const std::size_t before = page.samples();
    if (before == small_page::max_samples || counted_in_.load(std::memory_order_relaxed) == 0) return;
    page.set_samples(before + 1);
    if (before == 0) set_numbers(segment, page);
}

void heap_pages::unwatch(const void* block) noexcept {
    const platform::lock_guard lock(mutex_);
    auto& segment = *static_cast<heap_segment*>(segment_head::of(block, memory_.segment_bytes()));
    small_page& page = heap_segment::page_of(block, memory_.segment_bytes());
    const std::size_t before = page.samples();
    if (before == small_page::max_samples || before == 0) return;
    page.set_samples(before - 1);
    if (before == 1) set_numbers(segment, page);
}

// Thread caches.

void small_blocks::count_allocations(bool are_counted) noexcept {
    if constexpr (checks::caller) return; // every call is a slow one
    pages_.count_allocations(are_counted);
    start_trim(); // each thread learns of it at its next slow call
}

/// Requires  the cache is empty; it belongs to the calling thread, or nobody uses it.
void small_blocks::follow_counting(thread_cache& cache) const noexcept {
    const std::uint32_t counted_in = checks::caller ? 0 : pages_.counted_in();
    if (cache.counted_in == counted_in) return;
    const bool is_counting = counted_in != 0;
    cache.counted_in = counted_in;
    cache.is_counting = is_counting;
    cache.is_noted = false;
    if (is_counting && cache.stocks == nullptr) cache.stocks = static_cast<void**>(map_records(stock_area_bytes));
    for (std::size_t index = 0; index < small_class_count; ++index) {
        // One of the two entries takes inline frees, never both. In a tag's cache, none does.
        cache.of_class[index].capacity = 0;
        block_cache& stock = cache.stock(index);
        const bool has_room = is_counting && cache.stocks != nullptr && cache.tag == 0;
        stock.blocks = cache.stocks != nullptr ? cache.stocks + stock_offsets[index] : nullptr;
        stock.capacity = has_room ? std::min(first_capacity, base_cached(index)) : 0;
        cache.reuse[index] = {};
        if (is_counting) cache.until_sample[index] = sampling::draw_gap(class_bytes(index));
    }
}

/// Counts a thread's allocations and frees of a class, to say how many blocks may become ready at once.
///
/// What is freed while blocks are ready is used again only after them. Where some blocks are freed at once and others
/// stay, those that stay would then lie with gaps between them and in another order than without a profile, and a
/// program that visits them later pays for it: a Python program's collector took three times as long. There each
/// allocation is a slow call, and takes the block that was freed last, as ever.
void small_blocks::watch_reuse(reuse_window& window, std::size_t class_index, std::uint32_t stocked) noexcept {
    constexpr std::uint32_t allocations = 64;
    constexpr std::uint32_t least_share = 8; // one in eight, and all but one in eight
    if (stocked > window.stocked)
        window.frees = static_cast<std::uint16_t>(std::min(window.frees + (stocked - window.stocked), 2 * allocations));
    if (window.allocations < allocations) return;
    const std::uint32_t freed = window.frees * least_share;
    const bool some_stay = freed > window.allocations && freed < window.allocations * (least_share - 1);
    window.ready_blocks = static_cast<std::uint8_t>(some_stay ? 0 : ready_blocks(class_index));
    window.frees = 0;
    window.allocations = 0;
}

/// The most blocks of a stock to use at once: 32, of 4 KiB together, but at least eight, so that small ones which were
/// freed last are still in the processor's first cache when they are used again.
std::uint32_t small_blocks::ready_blocks(std::size_t class_index) noexcept {
    constexpr std::size_t near_bytes = 4096;
    return std::min({cached_in(near_bytes, class_index, first_capacity), close_capacity, base_cached(class_index)});
}

/// Takes back blocks that were counted as allocated and then not allocated.
void small_blocks::uncount(thread_cache& cache, std::size_t class_index, std::uint32_t count) noexcept {
    if (cache.is_counting) cache.until_sample[class_index] += count;
}

bool small_blocks::grow_stock(thread_cache& cache, std::size_t class_index) noexcept {
    block_cache& stock = cache.stock(class_index);
    const std::uint32_t capacity = std::min(2 * stock.capacity, base_cached(class_index));
    const bool is_larger = capacity > stock.capacity;
    stock.capacity = capacity;
    return is_larger;
}

/// Fills the stock from the pages; without memory for a stock, the entry of the class with a single block.
/// Returns   the number of blocks.
std::size_t small_blocks::restock(thread_cache& cache, std::size_t class_index, block_cache& stock,
                                  twice_freed& noted) noexcept {
    const std::size_t few = cache.stocks != nullptr ? std::min(first_capacity, base_cached(class_index)) : 1;
    std::size_t batch = few;
    if (cache.tag == 0 && cache.stocks != nullptr) {
        (void)grow_stock(cache, class_index);
        batch = std::max<std::size_t>((stock.capacity + 1) / 2, 1);
    }
    if (cache.tag != 0 && has_budget(cache.tag))
        batch = std::clamp<std::size_t>(cacheable_bytes(cache) / class_bytes(class_index), 1, batch);
    std::size_t taken = cache.shard->refill(class_index, stock.blocks, batch);
    if (taken == 0) taken = refill_after_failure(&cache, class_index, stock.blocks, std::min(batch, few), noted);
    cache.bytes_to_sample -= static_cast<std::int64_t>(taken * class_bytes(class_index));
    stock.count.store(static_cast<std::uint32_t>(taken), std::memory_order_release);
    cache.reuse[class_index].stocked = static_cast<std::uint32_t>(taken);
    return taken;
}

/// Takes a block from the stock, and moves more to the entry of the class, for the allocations that come before the
/// next one of the profile. Requires  the stock has a block; the entry of the class is empty.
void* small_blocks::take_from_stock(thread_cache& cache, std::size_t class_index) noexcept {
    block_cache& ready = cache.of_class[class_index];
    block_cache& stock = cache.stock(class_index);
    const std::uint32_t count = stock.count.load(std::memory_order_relaxed);
    void* const block = stock.blocks[count - 1];
    std::uint32_t& left = cache.until_sample[class_index];
    cache.is_noted = left == 0;
    left = cache.is_noted ? sampling::draw_gap(class_bytes(class_index)) : left - 1;
    reuse_window& reuse = cache.reuse[class_index];
    watch_reuse(reuse, class_index, count);
    const std::uint32_t moved = std::min({count - 1, left, std::uint32_t{reuse.ready_blocks}});
    reuse.allocations = static_cast<std::uint8_t>(reuse.allocations + 1 + moved);
    reuse.stocked = count - 1 - moved;
    if (moved == 0) {
        stock.count.store(count - 1, std::memory_order_relaxed);
        return block;
    }
    ready.blocks = cache.close_blocks + close_offsets[class_index];
    std::memcpy(ready.blocks, stock.blocks + (count - 1 - moved), moved * sizeof(void*));
    // In this order, so that no block is ever in both places when the child of a fork takes over the caches.
    stock.count.store(count - 1 - moved, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    ready.count.store(moved, std::memory_order_relaxed);
    left -= moved;
    return block;
}

void* small_blocks::allocate_counted(thread_cache& cache, std::size_t class_index) noexcept {
    const bool is_plain = cache.tag == 0 && cache.bytes_to_sample > 0 && cache.until_sample[class_index] != 0 &&
                          cache.trims_seen == trims_.load(std::memory_order_acquire);
    const bool has_block = cache.stock(class_index).count.load(std::memory_order_relaxed) != 0 &&
                           cache.of_class[class_index].count.load(std::memory_order_relaxed) == 0;
    return is_plain && has_block ? take_from_stock(cache, class_index) : nullptr;
}

bool small_blocks::push_watched(thread_cache& main_cache, void* block) const noexcept {
    const bool is_plain = main_cache.is_counting && main_cache.trims_seen == trims_.load(std::memory_order_acquire) &&
                          !records_of_profile.may_contain(block);
    return is_plain && push(main_cache.stock(heap_segment::page_of(block, segment_bytes()).class_index), block);
}

/// refill() while the heap counts. Requires  the entry of the class is empty.
void* small_blocks::refill_counted(thread_cache& cache, std::size_t class_index) noexcept {
    twice_freed noted;
    block_cache& stock = cache.stock(class_index);
    void* single = nullptr;
    if (cache.stocks == nullptr) stock.blocks = &single;
    if (stock.count.load(std::memory_order_relaxed) == 0 && restock(cache, class_index, stock, noted) == 0)
        return nullptr;
    void* const block = take_from_stock(cache, class_index);
    if (cache.stocks == nullptr) stock.blocks = nullptr;
    return block;
}

}
