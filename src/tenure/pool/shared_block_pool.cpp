// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/shared_block_pool.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/base/check.hpp>
#include <tenure/base/no_alloc.hpp>

namespace tenure::inline TENURE_ABI {

using detail::pool_cache;

// In checked builds and under passthrough no thread gets a cache: every call takes the lock, so that a mistake is
// reported at the call that makes it.

namespace {

std::uint32_t cache_capacity_for(std::size_t block_bytes) noexcept {
    std::size_t const fitting = pool_cache::most_bytes / std::max<std::size_t>(block_bytes, 1);
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(fitting, 1, pool_cache::most_blocks));
}

}

shared_block_pool::shared_block_pool(std::size_t bytes, std::size_t alignment, block_source& source) noexcept
    : blocks_(bytes, alignment, source), block_bytes_(blocks_.block_bytes()), alignment_(alignment),
      cache_capacity_(cache_capacity_for(block_bytes_)), batch_((cache_capacity_ + 1) / 2) {
    slot_ = platform::register_slot(this, [](void* pool, void* cache) noexcept {
        static_cast<shared_block_pool*>(pool)->retire(*static_cast<pool_cache*>(cache));
    });
}

shared_block_pool::~shared_block_pool() {
    platform::unregister_slot(slot_);
    while (caches_ != nullptr) {
        pool_cache* const cache = caches_;
        caches_ = cache->next;
        detail::free_cache(cache);
    }
}

pool_cache* shared_block_pool::add_cache() noexcept {
    if (slot_.index == SIZE_MAX || checks::caller || blocks_.detoured_) return nullptr;
    pool_cache* const cache = detail::make_cache(cache_capacity_);
    if (cache == nullptr) return nullptr;
    if (!platform::set_slot(slot_, cache)) {
        detail::free_cache(cache);
        return nullptr;
    }
    std::lock_guard const lock(mutex_);
    cache->next = caches_;
    if (caches_ != nullptr) caches_->previous = cache;
    caches_ = cache;
    return cache;
}

/// Takes up to `count` blocks. Requires  the lock.
std::size_t shared_block_pool::take(void** blocks, std::size_t count) noexcept {
    if (stash_count_ != 0) {
        std::size_t const taken = std::min(count, stash_count_);
        stash_count_ -= taken;
        std::memcpy(blocks, stash_ + stash_count_, taken * sizeof(void*));
        return taken;
    }
    // In reverse, so that the cache, which hands out its newest first, does so in the order of addresses.
    std::size_t taken = 0;
    while (taken < count) {
        void* const block = blocks_.allocate();
        if (block == nullptr) break;
        blocks[count - ++taken] = block;
    }
    if (taken < count) std::memmove(blocks, blocks + (count - taken), taken * sizeof(void*));
    return taken;
}

/// Takes blocks back. Requires  the lock.
void shared_block_pool::give(void* const* blocks, std::size_t count) noexcept {
    if (stash_capacity - stash_count_ >= count) {
        std::memcpy(stash_ + stash_count_, blocks, count * sizeof(void*));
        stash_count_ += count;
        return;
    }
    for (std::size_t index = 0; index < count; ++index) blocks_.deallocate(blocks[index]);
}

void* shared_block_pool::allocate_slow(pool_cache* cache) noexcept {
    [[maybe_unused]] detail::caller_allocation const allocation("of a pool", block_bytes_);
    if (cache == nullptr) cache = add_cache();
    std::lock_guard const lock(mutex_);
    if (cache == nullptr) return blocks_.allocate();
    std::size_t const taken = take(cache->blocks, batch_);
    if (taken == 0) return nullptr;
    cache->count.store(static_cast<std::uint32_t>(taken - 1), std::memory_order_relaxed);
    return cache->blocks[taken - 1];
}

void shared_block_pool::deallocate_slow(pool_cache* cache, void* block) noexcept {
    if (block == nullptr) return;
    if (cache == nullptr) cache = add_cache();
    std::lock_guard const lock(mutex_);
    if (cache == nullptr) return blocks_.deallocate(block);
    std::uint32_t count = cache->count.load(std::memory_order_relaxed);
    if (count == cache_capacity_) {
        // The older half goes; the newer one is warmer.
        give(cache->blocks, batch_);
        count -= batch_;
        std::memmove(cache->blocks, cache->blocks + batch_, count * sizeof(void*));
    }
    cache->blocks[count] = block;
    cache->count.store(count + 1, std::memory_order_relaxed);
}

void shared_block_pool::empty_cache(pool_cache& cache) noexcept {
    std::uint32_t const count = cache.count.load(std::memory_order_relaxed);
    check_invariant(count <= cache.capacity, "shared_block_pool: a cache holds more than it may", &cache);
    for (std::uint32_t index = 0; index < count; ++index) blocks_.deallocate(cache.blocks[index]);
    cache.count.store(0, std::memory_order_relaxed);
}

void shared_block_pool::empty_caches() noexcept {
    std::lock_guard const lock(mutex_);
    for (pool_cache* cache = caches_; cache != nullptr; cache = cache->next) empty_cache(*cache);
    while (stash_count_ != 0) blocks_.deallocate(stash_[--stash_count_]);
}

void shared_block_pool::retire(pool_cache& cache) noexcept {
    {
        std::lock_guard const lock(mutex_);
        empty_cache(cache);
        (cache.previous != nullptr ? cache.previous->next : caches_) = cache.next;
        if (cache.next != nullptr) cache.next->previous = cache.previous;
    }
    detail::free_cache(&cache);
}

void shared_block_pool::clear() noexcept {
    std::lock_guard const lock(mutex_);
    for (pool_cache* cache = caches_; cache != nullptr; cache = cache->next)
        cache->count.store(0, std::memory_order_relaxed);
    stash_count_ = 0;
    blocks_.clear();
}

std::size_t shared_block_pool::trim() noexcept {
    empty_caches();
    std::lock_guard const lock(mutex_);
    return blocks_.trim();
}

bool shared_block_pool::owns(const void* pointer) const noexcept {
    std::lock_guard const lock(mutex_);
    return blocks_.owns(pointer);
}

std::size_t shared_block_pool::cached_count() const noexcept {
    std::size_t count = stash_count_;
    for (pool_cache const* cache = caches_; cache != nullptr; cache = cache->next)
        count += cache->count.load(std::memory_order_relaxed);
    return count;
}

std::size_t shared_block_pool::size() const noexcept {
    std::lock_guard const lock(mutex_);
    std::size_t const taken = blocks_.size();
    std::size_t const cached = cached_count();
    return taken > cached ? taken - cached : 0;
}

allocator_stats shared_block_pool::stats() const noexcept {
    std::lock_guard const lock(mutex_);
    allocator_stats answer = blocks_.stats();
    answer.live_count -= std::min(answer.live_count, cached_count());
    answer.live_bytes = answer.live_count * blocks_.block_bytes();
    return answer;
}

bool shared_block_pool::valid() noexcept {
    empty_caches();
    std::lock_guard const lock(mutex_);
    return blocks_.valid();
}

}
