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
    const alone mine(alone_);
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
    passthrough_.for_each([&](void* block, std::size_t bytes) { visit(context, block, bytes); });
    guarded_.for_each(visit, context);
    large_.for_each(&visiting::block, &who);
    huge_.for_each(&visiting::block, &who);
}

void heap_core::clear() noexcept {
    const alone mine(alone_);
    small_.clear();
    passthrough_.free_all();
    guarded_.free_all();
    large_.free_all();
    huge_.free_all(platform::coarse_ns());
    if constexpr (checks::caller) huge_.trim();
    if (passthrough_form_ == passthrough_form::plain) forget_tagged(); // only the process heap has tags
}

allocator_stats heap_core::stats() const noexcept {
    allocator_stats answer;
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const class_usage found = small_.usage_of(index);
        const std::size_t live = found.allocated - found.cached;
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

bool heap_core::valid() const noexcept { return small_.valid() && large_.valid(); }

/// The locks that are taken after those of small blocks.
template<class Visit>
void heap_core::for_each_inner_lock(Visit&& visit) noexcept {
    visit(large_.mutex());
    visit(huge_.mutex());
    visit(passthrough_.mutex());
    visit(guarded_.mutex());
    visit(memory_.mutex());
}

void heap_core::before_fork() noexcept {
    small_.lock_for_fork();
    for_each_inner_lock([](platform::mutex& lock) { lock.lock(); });
}

void heap_core::after_fork_in_parent() noexcept {
    for_each_inner_lock([](platform::mutex& lock) { lock.unlock(); });
    small_.unlock_in_parent();
}

void heap_core::after_fork_in_child(const thread_cache* mine) noexcept {
    for_each_inner_lock([](platform::mutex& lock) { lock.abandon(); });
    small_.abandon_in_child(mine);
    // A walk() or clear() of another thread ends with that thread; the child must not be locked out by it.
    alone_.store(0, std::memory_order_relaxed);
}

}
