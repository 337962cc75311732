// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_core.hpp>

#include <algorithm>

#include <tenure/platform/clock.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// Records, in checked builds, which thread has exclusive use of the heap.
class alone {
public:
    explicit alone(std::atomic<std::uint64_t>& thread) noexcept : thread_(thread) {
        if constexpr (checks::caller) thread_.store(platform::thread_id(), std::memory_order_relaxed);
    }
    ~alone() {
        if constexpr (checks::caller) thread_.store(0, std::memory_order_relaxed);
    }
    alone(const alone&) = delete;
    alone& operator=(const alone&) = delete;

private:
    std::atomic<std::uint64_t>& thread_;
};

}

void heap_core::walk(block_visitor visit, void* context) noexcept {
    alone const mine(alone_);
    {
        twice_freed noted;
        platform::lock_guard const lock(mutex_);
        for (thread_cache* cache = caches_; cache != nullptr; cache = cache->next) empty(*cache, noted);
    }
    struct visiting {
        heap_core& core;
        block_visitor visit;
        void* context;
        static void block(void* argument, void* block, std::size_t bytes) {
            visiting const& to = *static_cast<visiting*>(argument);
            if constexpr (checks::caller)
                bytes = to.core.checked_bytes(block, to.core.class_number_of(block, to.core.slice_number_of(block)));
            to.visit(to.context, block, bytes);
        }
    } who{*this, visit, context};
    pages_.for_each_page(
        [](void* argument, small_page& page) {
            for (std::size_t index = 0; index < page.blocks_used(); ++index) {
                if (page.is_allocated(index)) visiting::block(argument, page.block(index), page.block_bytes);
            }
        },
        &who);
    passthrough_.for_each(visit, context);
    guarded_.for_each(visit, context);
    large_.for_each(&visiting::block, &who);
    huge_.for_each(&visiting::block, &who);
}

void heap_core::clear() noexcept {
    alone const mine(alone_);
    platform::lock_guard const lock(mutex_);
    for (thread_cache* cache = caches_; cache != nullptr; cache = cache->next) {
        for (block_cache& blocks : cache->of_class) blocks.count.store(0, std::memory_order_relaxed);
    }
    for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) shard->forget_pages();
    pages_.for_each_page([](void* pages, small_page& page) { static_cast<heap_pages*>(pages)->deallocate(page); },
                         &pages_);
    passthrough_.free_all();
    guarded_.free_all();
    large_.free_all();
    huge_.free_all(platform::coarse_ns());
    if constexpr (checks::caller) huge_.trim();
    if (passthrough_form_ == passthrough_form::plain) forget_tagged(); // only the process heap has tags
}

std::size_t heap_core::cached_count(std::size_t class_index) const noexcept { return usage_of(class_index).cached; }

class_usage heap_core::usage_of(std::size_t class_index) const noexcept {
    class_usage sum;
    platform::lock_guard const lock(mutex_);
    for (heap_shard const* shard = shards_; shard != nullptr; shard = shard->next) {
        class_usage const one = shard->usage_of(class_index);
        sum.pages += one.pages;
        sum.allocated += one.allocated;
    }
    for (thread_cache const* cache = caches_; cache != nullptr; cache = cache->next)
        sum.cached += cache->of_class[class_index].count.load(std::memory_order_relaxed);
    // While threads refill and flush, the two numbers are not from the same moment.
    sum.cached = std::min(sum.cached, sum.allocated);
    return sum;
}

allocator_stats heap_core::stats() const noexcept {
    allocator_stats answer;
    for (std::size_t index = 0; index < small_class_count; ++index) {
        class_usage const found = usage_of(index);
        std::size_t const live = found.allocated - found.cached;
        answer.live_count += live;
        answer.live_bytes += live * class_bytes(index);
    }
    answer.live_count += large_.live_count() + huge_.live_count() + passthrough_.count() + guarded_.live_count();
    answer.live_bytes += large_.live_bytes() + huge_.live_bytes() + passthrough_.bytes() + guarded_.live_bytes();
    answer.peak_bytes = memory_.peak_bytes();
    answer.reserved_bytes = memory_.reserved_bytes();
    answer.source_blocks = memory_.source_blocks();
    return answer;
}

bool heap_core::valid() const noexcept {
    platform::lock_guard const lock(mutex_);
    for (heap_shard const* shard = shards_; shard != nullptr; shard = shard->next) {
        if (!shard->valid()) return false;
    }
    return large_.valid();
}

/// All locks except mutex_, which keeps the list of shards unchanged.
template<class Visit>
void heap_core::for_each_inner_lock(Visit&& visit) noexcept {
    for (heap_shard const* shard = shards_; shard != nullptr; shard = shard->next) visit(shard->mutex());
    visit(pages_.mutex());
    visit(large_.mutex());
    visit(huge_.mutex());
    visit(passthrough_.mutex());
    visit(guarded_.mutex());
    visit(memory_.mutex());
}

void heap_core::before_fork() noexcept {
    mutex_.lock();
    for_each_inner_lock([](platform::mutex& lock) { lock.lock(); });
}

void heap_core::after_fork_in_parent() noexcept {
    for_each_inner_lock([](platform::mutex& lock) { lock.unlock(); });
    mutex_.unlock();
}

void heap_core::after_fork_in_child(const thread_cache* mine) noexcept {
    for_each_inner_lock([](platform::mutex& lock) { lock.abandon(); });
    mutex_.abandon();
    for (thread_cache* cache = caches_; cache != nullptr; cache = cache->next) {
        bool const is_mine = mine != nullptr && cache->main == mine->main;
        if (cache->is_used && !is_mine) retire_cache(*cache);
    }
}

}
