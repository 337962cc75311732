// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/detail/shared_pool_core.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/budget_source.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/pool/detail/pool_leaks.hpp>

namespace tenure::inline TENURE_ABI::detail {

// In checked builds and under passthrough no thread gets a cache: every call takes the lock, so that misuse is reported
// at the call that causes it.

namespace {

std::uint32_t cache_capacity_for(std::size_t block_bytes) noexcept {
    const std::size_t fitting = pool_cache::max_bytes / std::max<std::size_t>(block_bytes, 1);
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(fitting, 1, pool_cache::max_blocks));
}

}

constinit const platform::fork_steps shared_pool_core::fork_steps{
    [](void* owner) noexcept { static_cast<shared_pool_core*>(owner)->lock_for_fork(); },
    [](void* owner) noexcept { static_cast<shared_pool_core*>(owner)->unlock_after_fork(); },
    [](void* owner) noexcept { static_cast<shared_pool_core*>(owner)->leave_to_child(); },
    [](void* owner) noexcept { return static_cast<shared_pool_core*>(owner)->holds_lock(); },
};

shared_pool_core::shared_pool_core(std::size_t bytes, std::size_t alignment, block_source& source) noexcept
    : fork_(platform::fork_order::objects, this, fork_steps), blocks_(bytes, alignment, source) {
    block_bytes_ = blocks_.block_bytes();
    cache_capacity_ = cache_capacity_for(block_bytes_);
    batch_ = (cache_capacity_ + 1) / 2;
    slot_ = platform::register_slot(this, [](void* pool, void* cache) noexcept {
        static_cast<shared_pool_core*>(pool)->retire(*static_cast<pool_cache*>(cache));
    });
    blocks_.noted_ = &misuse_;
    fork_.enlist();
    remove_holder(&blocks_); // it counts what the threads' caches hold
    static constexpr holder_kind as_holder{"shared pool", sizeof(shared_pool_core),
                                           [](const void* holder) noexcept {
                                               return mixed(
                                                   0, static_cast<const shared_pool_core*>(holder)->block_bytes());
                                           },
                                           [](const void* holder, const holder_facts& facts, held_list& to) noexcept {
                                               static_cast<const shared_pool_core*>(holder)->list_held(facts, to);
                                           }};
    add_holder(this, as_holder);
}

shared_pool_core::~shared_pool_core() {
    remove_holder(this);
    fork_.delist();
    platform::unregister_slot(slot_);
    blocks_.noted_ = nullptr; // it is destroyed before the blocks
    caches_.for_each([](pool_cache& cache) { free_cache(&cache); });
}

namespace {
std::size_t core_bytes() noexcept { return align_up(sizeof(shared_pool_core), platform::page_bytes()); }
}

shared_pool_core* shared_pool_core::make(std::size_t bytes, std::size_t alignment, block_source& source) noexcept {
    void* const memory = platform::map(core_bytes(), cache_line_bytes);
    if (memory == nullptr) return nullptr;
    platform::add_leak_root(memory, core_bytes()); // for blocks under passthrough
    // Not value-initialised: the stash's pages are touched only when it is used.
    return ::new (memory) shared_pool_core(bytes, alignment, source);
}

void shared_pool_core::end(shared_pool_core* core) noexcept {
    core->~shared_pool_core();
    platform::remove_leak_root(core, core_bytes());
    platform::unreserve(core, core_bytes());
}

void shared_pool_core::lock_for_fork() noexcept {
    mutex_.lock();
    blocks_.passthrough_blocks_.mutex().lock();
}
void shared_pool_core::unlock_after_fork() noexcept {
    blocks_.passthrough_blocks_.mutex().unlock();
    mutex_.unlock();
}
bool shared_pool_core::holds_lock() const noexcept {
    return mutex_.is_mine() || blocks_.passthrough_blocks_.mutex().is_mine();
}

/// Runs in the child of a fork. Writes only links in the caches of the parent's other threads: most children soon
/// execute another program, so those pages should stay shared.
void shared_pool_core::leave_to_child() noexcept {
    mutex_.abandon();
    blocks_.passthrough_blocks_.mutex().abandon();
    if (holds_lock()) return; // a signal handler has forked that interrupted its holder, which goes on
    caches_.leave_to_child(cache_of_this_thread());
}

pool_cache* shared_pool_core::pop_ownerless() noexcept {
    const platform::lock_guard lock(mutex_);
    return caches_.pop_ownerless();
}

pool_cache* shared_pool_core::add_cache() noexcept {
    if (!platform::may_set_slot(slot_) || checks::caller || blocks_.passthrough_) return nullptr;
    pool_cache* cache = pop_ownerless();
    if (cache == nullptr) cache = make_cache(cache_capacity_);
    if (cache == nullptr) return nullptr;
    const bool is_set = platform::set_slot(slot_, cache);
    const platform::lock_guard lock(mutex_);
    if (is_set) {
        caches_.add(*cache);
        return cache;
    }
    caches_.add_ownerless(*cache);
    return nullptr;
}

/// A lock for calls that may find misuse, which is reported after the unlock.
class shared_pool_core::reporting_lock {
public:
    explicit reporting_lock(shared_pool_core& pool) noexcept : pool_(pool) { pool.mutex_.lock(); }
    ~reporting_lock() {
        if (pool_.misuse_.empty()) [[likely]] {
            pool_.mutex_.unlock();
            return;
        }
        const misuse_log noted = std::exchange(pool_.misuse_, {});
        pool_.mutex_.unlock();
        noted.report();
    }
    reporting_lock(const reporting_lock&) = delete;
    reporting_lock& operator=(const reporting_lock&) = delete;

private:
    shared_pool_core& pool_;
};

/// Refills: takes up to `count` blocks. Requires  the lock.
std::size_t shared_pool_core::refill(void** blocks, std::size_t count) noexcept {
    if (stash_count_ != 0) {
        const std::size_t taken = std::min(count, stash_count_);
        stash_count_ -= taken;
        std::memcpy(blocks, stash_ + stash_count_, taken * sizeof(void*));
        return taken;
    }
    // In reverse, because the cache allocates its newest block first: it then allocates in address order.
    std::size_t taken = 0;
    while (taken < count) {
        void* const block = blocks_.allocate();
        if (block == nullptr) break;
        blocks[count - ++taken] = block;
    }
    if (taken < count) std::memmove(blocks, blocks + (count - taken), taken * sizeof(void*));
    return taken;
}

/// Flushes: accepts blocks from a cache. Requires  the lock.
void shared_pool_core::flush(void* const* blocks, std::size_t count) noexcept {
    if (stash_capacity - stash_count_ >= count) {
        std::memcpy(stash_ + stash_count_, blocks, count * sizeof(void*));
        stash_count_ += count;
        return;
    }
    for (std::size_t index = 0; index < count; ++index) blocks_.deallocate(blocks[index]);
}

// Under passthrough the list of blocks has a lock of its own. The hooks that are told of each block are called without
// any.

void* shared_pool_core::allocate_passthrough() noexcept {
    return blocks_.layout_.capacity == 0 ? nullptr
                                         : blocks_.passthrough_blocks_.allocate(block_bytes_, blocks_.alignment_);
}

void shared_pool_core::deallocate_passthrough(void* block) noexcept {
    if (!checks::caller || blocks_.passthrough_blocks_.is_listed(block))
        return blocks_.passthrough_blocks_.deallocate(block);
    const reporting_lock lock(*this);
    blocks_.deallocate_passthrough(block);
}

void* shared_pool_core::allocate_slow(pool_cache* cache) noexcept {
    [[maybe_unused]] const caller_allocation allocation("of a pool", block_bytes_);
    if (blocks_.passthrough_) return allocate_passthrough();
    if (cache == nullptr) cache = add_cache();
    allocation_attempt attempt; // a budget that refuses the second segment of a batch refuses no request
    const reporting_lock lock(*this);
    if (cache == nullptr) {
        void* const block = blocks_.allocate();
        if (block != nullptr) attempt.succeeded();
        return block;
    }
    std::size_t taken = cache->count.load(std::memory_order_relaxed); // not zero if the cache is an adopted one
    if (taken == 0) taken = refill(cache->blocks, batch_);
    if (taken == 0) return nullptr;
    attempt.succeeded();
    cache->count.store(static_cast<std::uint32_t>(taken - 1), std::memory_order_relaxed);
    return cache->blocks[taken - 1];
}

void shared_pool_core::deallocate_slow(pool_cache* cache, void* block) noexcept {
    if (block == nullptr) return;
    [[maybe_unused]] const caller_release release("a block of a pool", block);
    if (blocks_.passthrough_) return deallocate_passthrough(block);
    if (cache == nullptr) cache = add_cache();
    const reporting_lock lock(*this);
    if (cache == nullptr) return blocks_.deallocate(block);
    std::uint32_t count = cache->count.load(std::memory_order_relaxed);
    if (count == cache_capacity_) {
        // Flush the older half; the newer half is more likely in the CPU cache.
        flush(cache->blocks, batch_);
        count -= batch_;
        std::memmove(cache->blocks, cache->blocks + batch_, count * sizeof(void*));
    }
    cache->blocks[count] = block;
    cache->count.store(count + 1, std::memory_order_relaxed);
}

void shared_pool_core::empty_cache(pool_cache& cache) noexcept {
    const std::uint32_t count = cache.count.load(std::memory_order_relaxed);
    check_invariant(count <= cache.capacity, "shared_block_pool: a thread cache holds more blocks than its capacity",
                    &cache);
    for (std::uint32_t index = 0; index < count; ++index) blocks_.deallocate(cache.blocks[index]);
    cache.count.store(0, std::memory_order_relaxed);
}

void shared_pool_core::empty_caches() noexcept {
    const reporting_lock lock(*this);
    caches_.for_each([&](pool_cache& cache) { empty_cache(cache); });
    while (stash_count_ != 0) blocks_.deallocate(stash_[--stash_count_]);
}

void shared_pool_core::retire(pool_cache& cache) noexcept {
    {
        const reporting_lock lock(*this);
        empty_cache(cache);
        caches_.remove(cache);
    }
    free_cache(&cache);
}

void shared_pool_core::clear() noexcept {
    blocks_.passthrough_blocks_.free_all(); // without the lock, for the hooks
    const reporting_lock lock(*this);
    caches_.for_each([](pool_cache& cache) { cache.count.store(0, std::memory_order_relaxed); });
    stash_count_ = 0;
    blocks_.clear();
}

std::size_t shared_pool_core::trim() noexcept {
    empty_caches();
    const reporting_lock lock(*this);
    return blocks_.trim();
}

bool shared_pool_core::owns(const void* pointer) const noexcept {
    const platform::lock_guard lock(mutex_);
    return blocks_.owns(pointer);
}

std::size_t shared_pool_core::cached_count() const noexcept {
    std::size_t count = stash_count_;
    caches_.for_each([&](const pool_cache& cache) { count += cache.count.load(std::memory_order_relaxed); });
    return count;
}

void shared_pool_core::list_held(const holder_facts& facts, held_list& to) const noexcept {
    const bool is_free = to.patience().sees_free(blocks_.passthrough_blocks_.mutex());
    const platform::patient_lock lock(mutex_, to.patience());
    if (is_free && lock) return add_pool(to, "shared pool of ", block_bytes_, facts.type, size_under_lock());
    to.add_busy(facts.type != nullptr ? "shared pool of " : "shared pool", type_in(facts.type), this);
}

std::size_t shared_pool_core::size() const noexcept {
    const platform::lock_guard lock(mutex_);
    return size_under_lock();
}

std::size_t shared_pool_core::size_under_lock() const noexcept {
    const std::size_t taken = blocks_.size();
    const std::size_t cached = cached_count();
    return taken > cached ? taken - cached : 0;
}

allocator_stats shared_pool_core::stats() const noexcept {
    const platform::lock_guard lock(mutex_);
    allocator_stats answer = blocks_.stats();
    answer.live_count -= std::min(answer.live_count, cached_count());
    answer.live_bytes = answer.live_count * blocks_.block_bytes();
    return answer;
}

bool shared_pool_core::valid() noexcept {
    empty_caches();
    const platform::lock_guard lock(mutex_);
    return blocks_.valid();
}

}
