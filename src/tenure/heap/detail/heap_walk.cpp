// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_core.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/hooks.hpp>
#include <tenure/heap/detail/checked/made_objects.hpp>
#include <tenure/heap/detail/profile/profile_records.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// Records, in checked builds, which thread has exclusive use of the heap.
class alone {
public:
    explicit alone(atomic<std::uint64_t>& thread) noexcept : thread_(thread) {
        if constexpr (checks::caller) thread_.store(platform::thread_id(), std::memory_order_relaxed);
    }
    ~alone() {
        if constexpr (checks::caller) thread_.store(0, std::memory_order_relaxed);
    }
    alone(const alone&) = delete;
    alone& operator=(const alone&) = delete;

private:
    atomic<std::uint64_t>& thread_; // relaxed: see heap_core::alone_
};

}

void heap_core::walk(block_visitor visit, void* context) noexcept {
    const alone mine(alone_);
    // Not the lock itself: a visit may take long, and a fork waits for the lock.
    struct no_sweep {
        explicit no_sweep(heap_core& swept) noexcept : core(swept) { set(true); }
        ~no_sweep() { set(false); }
        no_sweep(const no_sweep&) = delete;
        no_sweep& operator=(const no_sweep&) = delete;
        void set(bool is_walked) noexcept {
            const platform::lock_guard lock(core.purge_mutex_);
            core.is_walked_ = is_walked;
        }
        heap_core& core;
    } const meanwhile(*this);
    {
        twice_freed noted;
        small_.flush_all(noted);
    }
    struct visiting {
        heap_core& core;
        block_visitor visit;
        void* context;
        static void block(void* argument, void* block, std::size_t bytes) {
            const visiting& to = *static_cast<visiting*>(argument);
            if constexpr (checks::caller)
                bytes = to.core.asked_or_whole(block, to.core.class_number_of(block, to.core.slice_number_of(block)));
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
    passthrough_.for_each([&](void* block, std::size_t bytes) { visit(context, block, bytes); });
    guarded_.for_each(visit, context);
    sampled_.for_each(visit, context);
    fenced_.for_each(visit, context);
    large_.for_each(&visiting::block, &who);
    huge_.for_each(&visiting::block, &who);
}

void heap_core::tell_all_ends() noexcept {
    walk(
        [](void* core, void* block, std::size_t) {
            if (!static_cast<heap_core*>(core)->is_passthrough(block)) tell_block_end(block);
        },
        this);
}

void heap_core::clear() noexcept {
    if (tells_blocks()) [[unlikely]]
        tell_all_ends();
    const alone mine(alone_);
    const platform::lock_guard no_sweep(purge_mutex_);
    small_.clear();
    passthrough_.free_all();
    guarded_.free_all();
    sampled_.free_all();
    memory_.uncount_use(fenced_.live_bytes());
    fenced_.free_all();
    large_.free_all();
    huge_.free_all(platform::coarse_ns());
    if constexpr (checks::caller) huge_.trim();
    if (passthrough_form_ == passthrough_form::plain) { // the process heap: no other has tags and objects of make()
        forget_tagged();
        if constexpr (checks::caller) forget_all_made();
    }
    if (is_profiled()) records_of_profile.end_all();
}

allocator_stats heap_core::stats() const noexcept {
    allocator_stats answer;
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const class_usage found = small_.usage_of(index);
        const std::size_t live = found.allocated - found.cached;
        answer.live_count += live;
        answer.live_bytes += live * class_bytes(index);
    }
    answer.live_count += large_.live_count() + huge_.live_count() + passthrough_.count();
    answer.live_bytes += large_.live_bytes() + huge_.live_bytes() + passthrough_.bytes();
    answer.live_count += guarded_.live_count() + sampled_.live_count() + zero_.live_count() + fenced_.live_count();
    answer.live_bytes += guarded_.live_bytes() + sampled_.live_bytes() + fenced_.live_bytes();
    answer.peak_bytes = std::max(memory_.peak_bytes(), answer.live_bytes); // without fenced blocks of the past
    answer.reserved_bytes = memory_.reserved_bytes() + fenced_.live_bytes() + fenced_.resting_bytes();
    answer.source_blocks = memory_.source_blocks();
    return answer;
}

bool heap_core::valid() const noexcept { return small_.valid() && large_.valid() && sampled_.valid(); }

/// The locks that are taken after those of small blocks.
template<class Visit>
void heap_core::for_each_inner_lock(Visit&& visit) noexcept {
    visit(large_.mutex());
    visit(huge_.mutex());
    visit(passthrough_.mutex());
    visit(guarded_.mutex());
    visit(sampled_.mutex());
    visit(zero_.mutex());
    visit(fenced_.mutex());
    visit(memory_.mutex());
}

bool heap_core::holds_lock() const noexcept {
    bool is_held = purge_mutex_.is_mine() || small_.holds_lock();
    const_cast<heap_core*>(this)->for_each_inner_lock([&](const platform::mutex& lock) { is_held |= lock.is_mine(); });
    return is_held;
}

bool heap_core::is_free(platform::lock_patience& patience) const noexcept {
    bool is_free = small_.is_free(patience);
    const_cast<heap_core*>(this)->for_each_inner_lock(
        [&](const platform::mutex& lock) { is_free = is_free && patience.sees_free(lock); });
    return is_free;
}

void heap_core::before_fork() noexcept {
    purge_mutex_.lock();
    small_.lock_for_fork();
    for_each_inner_lock([](platform::mutex& lock) { lock.lock(); });
}

void heap_core::after_fork_in_parent() noexcept {
    for_each_inner_lock([](platform::mutex& lock) { lock.unlock(); });
    small_.unlock_in_parent();
    purge_mutex_.unlock();
}

void heap_core::after_fork_in_child(const thread_cache* mine) noexcept {
    for_each_inner_lock([](platform::mutex& lock) { lock.abandon(); });
    small_.abandon_in_child(mine);
    purge_mutex_.abandon();
    is_walked_ = false;
    // A walk() or clear() of another thread ends with that thread; the child must not be locked out by it.
    alone_.store(0, std::memory_order_relaxed);
}

}
