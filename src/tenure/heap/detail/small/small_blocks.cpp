// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/small/small_blocks.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/engine/local_cache.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/detail/checked/quarantine.hpp>
#include <tenure/heap/detail/checked/record_memory.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/thread.hpp>
#include <tenure/platform/thread_slots.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// The first cache of the process, for the heap that opens it: a small process maps none.
TENURE_BEHIND_OTHERS(1) constinit thread_cache first_cache{};
// The exchange elects one heap; what is read with it is constant, so relaxed would do.
constinit std::atomic<bool> is_first_taken{false};

/// Returns   a zeroed place; nullptr when out of memory.
[[nodiscard]] void* place_for_cache() noexcept {
    if (!checks::caller && !is_first_taken.load(std::memory_order_relaxed) && !is_first_taken.exchange(true))
        return &first_cache;
    return map_records(sizeof(thread_cache));
}

void release_place(thread_cache& cache) noexcept {
    if (&cache != &first_cache) unmap_records(&cache, sizeof(thread_cache));
}

}

small_blocks::~small_blocks() {
    while (caches_ != nullptr) {
        thread_cache* const cache = caches_;
        caches_ = cache->next;
        if (cache->resting != nullptr) unmap_records(cache->resting, sizeof(quarantine));
        if (cache->arrays != nullptr) unmap_records(cache->arrays, array_area_bytes);
        if (cache->stocks != nullptr) unmap_records(cache->stocks, stock_area_bytes);
        release_place(*cache);
    }
    while (shards_ != &first_shard_) {
        heap_shard* const shard = shards_;
        shards_ = shard->next;
        unmap_records(shard, sizeof(heap_shard));
    }
}

// Shards.

/// Requires  the lock.
/// Returns   nullptr when out of memory.
heap_shard* small_blocks::add_shard(std::uint16_t tag) noexcept {
    void* const memory = map_records(sizeof(heap_shard));
    if (memory == nullptr) return nullptr;
    auto* const shard = new (memory) heap_shard(pages_, tag);
    shard->next = shards_;
    std::atomic_ref(shards_).store(shard, std::memory_order_release); // see holds_lock()
    if (tag == 0) ++shard_count_;
    return shard;
}

/// Finds a shard that no thread uses, adds one, or picks the least used. More shards than threads run at a time are of
/// little use, and each keeps its own pages.
/// Requires  the lock.
heap_shard* small_blocks::shard_for_thread() noexcept {
    heap_shard* best = &first_shard_;
    for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) {
        if (shard->tag == 0 && shard->user_count < best->user_count) best = shard;
    }
    const bool may_add = best->user_count != 0 && shard_count_ < platform::processor_count();
    heap_shard* const added = may_add ? add_shard(0) : nullptr;
    return added != nullptr ? added : best;
}

// Thread caches.

thread_cache* small_blocks::open_cache(std::uint16_t tag) noexcept {
    twice_freed noted;
    const platform::lock_guard lock(mutex_);
    heap_shard* const shard = tag == 0 ? shard_for_thread() : shard_for_tag(tag);
    if (shard == nullptr) return nullptr;
    thread_cache* cache = unused_;
    if (cache != nullptr) {
        unused_ = cache->next_unused;
        if (cache->tag != 0 || tag != 0) empty(*cache, noted); // in the child of a fork, unused caches hold blocks
    } else {
        void* const memory = place_for_cache();
        if (memory == nullptr) return nullptr;
        cache = new (memory) thread_cache; // pages are zeroed, and the arrays of blocks need no construction
        cache->next = caches_;
        caches_ = cache;
    }
    cache->is_used = true;
    cache->trims_seen = trims_.load(std::memory_order_acquire); // before are_counted(): see follow_trims()
    if (tag != 0 && cache->arrays == nullptr) {
        cache->arrays = static_cast<void**>(map_records(array_area_bytes));
        if (cache->arrays == nullptr) {
            cache->is_used = false;
            cache->next_unused = unused_;
            unused_ = cache;
            return nullptr;
        }
    }
    if (tag != 0) { // no room for an inline free: see deallocate_tagged()
        for (block_cache& blocks : cache->of_class) blocks.capacity = 0;
    }
    if constexpr (checks::caller) set_quarantine(*cache, tag == 0);
    cache->tag = tag;
    cache->bytes_to_sample = 0; // a tag's cache may become a main one, and a main one a tag's
    cache->has_drawn = false;
    cache->sampled_class = 0;
    cache->thread = &platform::this_thread_slots();
    cache->main = cache;
    cache->next_of_thread = nullptr;
    std::ranges::fill(cache->known, nullptr);
    cache->shard = shard;
    if (cache->is_counting || pages_.are_counted()) {
        empty(*cache, noted); // in the child of a fork, unused caches hold blocks
        cache->counted_in = 0;
        cache->is_counting = false;
        follow_counting(*cache);
    }
    ++shard->user_count;
    used_.add(*cache);
    return cache;
}

/// Only main caches have one: it holds blocks of no tag.
/// Requires  the quarantine, if there is one, is empty unless the cache remains a main one.
void small_blocks::set_quarantine(thread_cache& cache, bool is_wanted) const noexcept {
    if (!is_wanted && cache.resting != nullptr) {
        unmap_records(cache.resting, sizeof(quarantine));
        cache.resting = nullptr;
    }
    if (is_wanted && cache.resting == nullptr)
        cache.resting = static_cast<quarantine*>(map_records(sizeof(quarantine))); // zeroed
    if (cache.resting != nullptr) cache.resting->start(segment_bytes());
}

void small_blocks::close_cache(thread_cache& cache) noexcept {
    twice_freed noted;
    const platform::lock_guard lock(mutex_); // so that statistics see each block either cached or free
    empty(cache, noted);
    retire_cache(cache);
}

void small_blocks::close_abandoned() noexcept {
    const platform::lock_guard lock(mutex_);
    while (thread_cache* const cache = used_.find(&platform::this_thread_slots())) retire_cache(*cache);
}

/// Requires  the lock.
void small_blocks::retire_cache(thread_cache& cache) noexcept {
    --cache.shard->user_count;
    used_.remove(cache);
    cache.is_used = false;
    cache.next_unused = unused_;
    unused_ = &cache;
}

/// Returns the oldest blocks of a cache to their pages. They leave the cache first, so that no block is ever in both
/// places when the child of a fork takes over the caches of other threads.
void small_blocks::flush(block_cache& blocks, std::size_t count, twice_freed& noted) const noexcept {
    const std::uint32_t before = blocks.count.load(std::memory_order_relaxed);
    const auto rest = static_cast<std::uint32_t>(before - count);
    blocks.count.store(0, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    heap_shard::flush(blocks.blocks, count, segment_bytes(), noted);
    std::memmove(blocks.blocks, blocks.blocks + count, rest * sizeof(void*));
    std::atomic_signal_fence(std::memory_order_seq_cst);
    blocks.count.store(rest, std::memory_order_relaxed);
}

void small_blocks::empty_quarantine(thread_cache& cache, twice_freed& noted) const noexcept {
    void* blocks[64];
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const auto& ring = cache.resting->rings[index];
        while (const std::uint32_t count = ring.count.load(std::memory_order_relaxed)) {
            const std::uint32_t part = std::min<std::uint32_t>(count, std::size(blocks));
            cache.resting->take(index, blocks, part);
            heap_shard::flush(blocks, part, segment_bytes(), noted);
        }
    }
}

void small_blocks::empty(thread_cache& cache, twice_freed& noted) const noexcept {
    if (checks::caller && cache.resting != nullptr) empty_quarantine(cache, noted);
    for (std::size_t index = 0; index < small_class_count; ++index) {
        block_cache& blocks = cache.of_class[index];
        const std::uint32_t count = blocks.count.load(std::memory_order_relaxed);
        if (count != 0) flush(blocks, count, noted);
        uncount(cache, index, count);
        block_cache& stock = cache.stock(index);
        const std::uint32_t stocked = stock.count.load(std::memory_order_relaxed);
        if (stocked != 0) flush(stock, stocked, noted);
        const std::uint32_t least = std::min(first_capacity, base_cached(index));
        for (block_cache* each : {&blocks, &stock}) {
            if (each->capacity > least) each->capacity = least; // must grow again
        }
    }
    cache.extra_bytes = 0;
}

/// Makes more room for a class.
/// Returns   whether there is more room than before.
bool small_blocks::grow(thread_cache& cache, std::size_t class_index) const noexcept {
    block_cache& blocks = cache.of_class[class_index];
    const std::uint32_t base = base_cached(class_index);
    if (blocks.capacity == 0) {
        blocks.blocks = cache.first_blocks + first_offsets[class_index];
        blocks.capacity = std::min(first_capacity, base);
        return true;
    }
    const std::uint32_t most = blocks.capacity < base ? base : max_cached(class_index);
    const std::uint32_t capacity = std::min(2 * blocks.capacity, most);
    std::size_t extra = 0;
    if (blocks.capacity >= base) {
        if (capacity == blocks.capacity || ++cache.slow_calls[class_index] < calls_before_growth) return false;
        cache.slow_calls[class_index] = 0;
        extra = (capacity - blocks.capacity) * class_bytes(class_index);
        if (cache.extra_bytes + extra > max_extra_bytes) return false;
    }
    void** array = cache.close_blocks + close_offsets[class_index];
    if (capacity > std::min(close_capacity, base)) {
        if (cache.arrays == nullptr) {
            void* const memory = map_records(array_area_bytes);
            if (memory == nullptr) return false;
            cache.arrays = static_cast<void**>(memory);
        }
        array = cache.arrays + array_offsets[class_index];
    }
    if (blocks.blocks != array) {
        std::memcpy(array, blocks.blocks, blocks.count.load(std::memory_order_relaxed) * sizeof(void*));
        blocks.blocks = array;
    }
    blocks.capacity = capacity;
    cache.extra_bytes += extra;
    return true;
}

// Allocation.

/// Called when the source has no page: refills from pages of other shards, then purges and tries once more.
std::size_t small_blocks::refill_after_failure(thread_cache* cache, std::size_t class_index, void** blocks,
                                               std::size_t count, twice_freed& noted) noexcept {
    const std::uint16_t tag = cache != nullptr ? cache->tag : std::uint16_t{0};
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (attempt == 1) make_room_(heap_, cache, noted);
        const platform::lock_guard lock(mutex_);
        for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) {
            const std::size_t taken = shard->tag == tag ? shard->refill(class_index, blocks, count) : 0;
            if (taken != 0) return taken;
        }
    }
    return 0;
}

/// In checked builds, at every eighth refill: moves blocks that were in the thread's quarantine at the last look to its
/// cache.
/// Requires  the cache is empty.
bool small_blocks::refill_from_quarantine(thread_cache& cache, std::size_t class_index) const noexcept {
    block_cache& blocks = cache.of_class[class_index];
    auto& ring = cache.resting->rings[class_index];
    constexpr std::uint32_t every = 8;
    if (++ring.refills % every != 0) return false;
    const std::uint32_t count = ring.count.load(std::memory_order_relaxed);
    // At least half of the room stays in use.
    const std::uint32_t aged = std::min(ring.aged, count); // a fork between the steps of take() leaves more
    const std::uint32_t taken = std::min({aged, blocks.capacity, (ring_rooms[class_index] + 1) / 2});
    if (taken != 0) cache.resting->take(class_index, blocks.blocks, taken);
    if (has(cache.resting->on, mitigation::shuffle)) cache.resting->shuffle(blocks.blocks, taken);
    ring.aged = count - taken;
    blocks.count.store(taken, std::memory_order_release);
    return taken != 0;
}

void* small_blocks::refill(thread_cache& cache, std::size_t class_index) noexcept {
    if (cache.is_counting) [[unlikely]]
        return refill_counted(cache, class_index);
    twice_freed noted;
    block_cache& blocks = cache.of_class[class_index];
    if (cache.tag == 0) (void)grow(cache, class_index);
    if (checks::caller && cache.resting != nullptr && refill_from_quarantine(cache, class_index)) {
        void* block = nullptr;
        (void)pop(block, blocks);
        return block;
    }
    if (cache.tag != 0) blocks.blocks = cache.arrays + array_offsets[class_index];
    std::size_t batch = ((cache.tag == 0 ? blocks.capacity : tagged_room(class_index)) + 1) / 2;
    if (cache.tag != 0 && has_budget(cache.tag)) {
        batch = std::clamp<std::size_t>(cacheable_bytes(cache) / class_bytes(class_index), 1, batch);
    }
    std::size_t taken = cache.shard->refill(class_index, blocks.blocks, batch);
    if (taken == 0) {
        // Making room shrinks the cache to its first capacity, so the retry asks for no more blocks than that.
        const std::size_t few = std::min<std::size_t>(batch, std::min(first_capacity, base_cached(class_index)));
        taken = refill_after_failure(&cache, class_index, blocks.blocks, few, noted);
    }
    if (taken == 0) return nullptr;
    cache.bytes_to_sample -= static_cast<std::int64_t>(taken * class_bytes(class_index));
    if (checks::caller && cache.resting != nullptr && has(cache.resting->on, mitigation::shuffle))
        cache.resting->shuffle(blocks.blocks, taken);
    blocks.count.store(static_cast<std::uint32_t>(taken - 1), std::memory_order_relaxed);
    return blocks.blocks[taken - 1];
}

void* small_blocks::allocate(thread_cache* cache, std::size_t class_index) noexcept {
    if (cache == nullptr) { // no memory for a cache, or the thread is past its end
        twice_freed noted;
        void* block = nullptr;
        const bool is_taken = first_shard_.refill(class_index, &block, 1) == 1 ||
                              refill_after_failure(cache, class_index, &block, 1, noted) == 1;
        return is_taken ? block : nullptr;
    }
    void* block = nullptr;
    return pop(block, cache->of_class[class_index]) ? block : refill(*cache, class_index);
}

void small_blocks::deallocate(thread_cache* cache, void* block, std::size_t class_index) noexcept {
    if (cache == nullptr) return heap_shard::flush(&block, 1, segment_bytes());
    twice_freed noted;
    block_cache& blocks = cache->freed(class_index);
    if (blocks.capacity == 0 && cache->is_counting) return heap_shard::flush(&block, 1, segment_bytes(), noted);
    std::uint32_t count = blocks.count.load(std::memory_order_relaxed);
    const auto grow_more = [&] {
        return cache->is_counting ? grow_stock(*cache, class_index) : grow(*cache, class_index);
    };
    if (count >= blocks.capacity && !grow_more()) {
        // Flushes the older half; the newer blocks are more likely to be in the CPU cache.
        flush(blocks, (count + 1) / 2, noted);
        count = blocks.count.load(std::memory_order_relaxed);
    }
    blocks.blocks[count] = block;
    blocks.count.store(count + 1, std::memory_order_release);
}

bool small_blocks::choose_cached(thread_cache& cache, std::uint64_t random) const noexcept {
    if (cache.is_counting) return false; // its blocks are counted
    for (std::size_t tries = 0; tries < small_class_count; ++tries) {
        const std::size_t class_index = (random + tries) % small_class_count;
        block_cache& blocks = cache.of_class[class_index];
        const std::uint32_t count = blocks.count.load(std::memory_order_relaxed);
        if (count == 0) continue;
        twice_freed noted;
        flush(blocks, count, noted);
        cache.sampled_class = static_cast<std::uint8_t>(class_index + 1);
        return true;
    }
    return false;
}

// Trimming.

/// Empties the thread's caches if the heap was trimmed since it last called this: also those for owner tags that it
/// does not use at the moment.
void small_blocks::follow_trims(thread_cache& cache) const noexcept {
    // Acquire: start_trim() releases what was set before it, as whether allocations are counted.
    const std::uint32_t trims = trims_.load(std::memory_order_acquire);
    if (cache.trims_seen == trims) return;
    for (thread_cache* each = cache.main; each != nullptr; each = each->next_of_thread) {
        if (each->trims_seen == trims) continue;
        each->trims_seen = trims;
        twice_freed noted;
        empty(*each, noted);
        follow_counting(*each);
    }
}

void small_blocks::empty_after_trim(thread_cache* cache, twice_freed& noted) noexcept {
    for (thread_cache* each = cache != nullptr ? cache->main : nullptr; each != nullptr; each = each->next_of_thread)
        each->trims_seen = trims_.load(std::memory_order_acquire);
    flush_thread(cache, noted);
    for (thread_cache* each = cache != nullptr ? cache->main : nullptr; each != nullptr; each = each->next_of_thread)
        follow_counting(*each);
}

void small_blocks::flush_thread(thread_cache* cache, twice_freed& noted) const noexcept {
    for (thread_cache* each = cache != nullptr ? cache->main : nullptr; each != nullptr; each = each->next_of_thread)
        empty(*each, noted);
}

void small_blocks::flush_all(twice_freed& noted) noexcept {
    const platform::lock_guard lock(mutex_);
    for (thread_cache* cache = caches_; cache != nullptr; cache = cache->next) empty(*cache, noted);
}

std::size_t small_blocks::release_empty_pages(twice_freed& noted) noexcept {
    std::size_t count = 0;
    const platform::lock_guard lock(mutex_);
    for (thread_cache* cache = unused_; cache != nullptr; cache = cache->next_unused) empty(*cache, noted);
    for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) count += shard->release_empty_pages();
    return count;
}

std::size_t small_blocks::trim_pages() noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) bytes += shard->trim_pages();
    return bytes;
}

void small_blocks::clear() noexcept {
    const platform::lock_guard lock(mutex_);
    for (thread_cache* cache = caches_; cache != nullptr; cache = cache->next) {
        for (block_cache& blocks : cache->of_class) blocks.count.store(0, std::memory_order_relaxed);
        if (!checks::caller || cache->resting == nullptr) continue;
        for (auto& ring : cache->resting->rings) {
            ring.count.store(0, std::memory_order_relaxed);
            ring.aged = 0;
        }
    }
    for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) shard->forget_pages();
    pages_.for_each_page([](void* pages, small_page& page) { static_cast<heap_pages*>(pages)->deallocate(page); },
                         &pages_);
}

// Statistics.

class_usage small_blocks::usage_of(std::size_t class_index) const noexcept {
    class_usage sum;
    const platform::lock_guard lock(mutex_);
    for (const heap_shard* shard = shards_; shard != nullptr; shard = shard->next) {
        const class_usage one = shard->usage_of(class_index);
        sum.pages += one.pages;
        sum.allocated += one.allocated;
    }
    for (const thread_cache* cache = caches_; cache != nullptr; cache = cache->next) {
        for (const std::size_t number : {class_index, counted_classes + class_index})
            sum.cached += cache->of_class[number].count.load(std::memory_order_relaxed);
        if (checks::caller && cache->resting != nullptr)
            sum.cached += cache->resting->rings[class_index].count.load(std::memory_order_relaxed);
    }
    // While threads refill and flush, the two numbers are not from the same moment.
    sum.cached = std::min(sum.cached, sum.allocated);
    return sum;
}

std::size_t small_blocks::thread_count() const noexcept {
    std::size_t count = 0;
    const platform::lock_guard lock(mutex_);
    for (const thread_cache* cache = caches_; cache != nullptr; cache = cache->next)
        count += std::size_t{cache->is_used && cache->tag == 0}; // a thread's other caches belong to tags
    return count;
}

bool small_blocks::valid() const noexcept {
    const platform::lock_guard lock(mutex_);
    for (const heap_shard* shard = shards_; shard != nullptr; shard = shard->next) {
        if (!shard->valid()) return false;
    }
    return true;
}

// Fork.

void small_blocks::lock_for_fork() noexcept {
    mutex_.lock(); // keeps the list of shards unchanged
    for (const heap_shard* shard = shards_; shard != nullptr; shard = shard->next) shard->mutex().lock();
    pages_.mutex().lock();
}

/// Whether `is(lock)` holds for a lock. Takes none.
template<class Is>
bool small_blocks::is_any_lock(Is&& is) const noexcept {
    if (is(mutex_) || is(pages_.mutex())) return true;
    // Shards are only added, at the front: without the lock, another thread's newest one may be missed.
    const heap_shard* shard = std::atomic_ref(const_cast<heap_shard*&>(shards_)).load(std::memory_order_acquire);
    for (; shard != nullptr; shard = shard->next) {
        if (is(shard->mutex())) return true;
    }
    return false;
}

bool small_blocks::holds_lock() const noexcept {
    return is_any_lock([](const platform::mutex& lock) { return lock.is_mine(); });
}

bool small_blocks::is_free(platform::lock_patience& patience) const noexcept {
    return !is_any_lock([&](const platform::mutex& lock) { return !patience.sees_free(lock); });
}

void small_blocks::unlock_in_parent() noexcept {
    pages_.mutex().unlock();
    for (const heap_shard* shard = shards_; shard != nullptr; shard = shard->next) shard->mutex().unlock();
    mutex_.unlock();
}

void small_blocks::abandon_in_child(const thread_cache* mine) noexcept {
    pages_.mutex().abandon();
    for (const heap_shard* shard = shards_; shard != nullptr; shard = shard->next) shard->mutex().abandon();
    mutex_.abandon();
    // A fork in a signal handler may have interrupted a change of these lists by its own thread, which still has the
    // lock and goes on: the caches of the other threads then stay in use for good.
    for (thread_cache* cache = mutex_.is_mine() ? nullptr : caches_; cache != nullptr; cache = cache->next) {
        const bool is_mine = mine != nullptr && cache->main == mine->main;
        if (cache->is_used && !is_mine) retire_cache(*cache);
    }
    // The order of blocks must differ between the children of a process.
    if (checks::caller && mine != nullptr && mine->main->resting != nullptr) mine->main->resting->start_generator();
}

}
