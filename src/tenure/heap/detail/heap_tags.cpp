// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_core.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/hooks.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/detail/profile/heap_samples.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/early_pointer.hpp>

// Allocations under an owner tag have their own pages, so that live statistics by tag are exact and untagged calls pay
// nothing. A thread that changes its tag changes its cache. A free of a tagged block reads the page's record.

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// Larger blocks of the one heap with tags, the process heap.
struct larger_blocks {
    // Counters: relaxed, nothing else is read by them.
    std::atomic<std::size_t> count;
    std::atomic<std::size_t> bytes;
};
TENURE_BEHIND_OTHERS(9) constinit larger_blocks by_tag[max_tags]{};

/// The calling thread's cache for a tag, opened at first use.
/// Returns   nullptr when out of memory, and when too many tags have pages of their own.
[[nodiscard]] thread_cache* cache_for(thread_cache& main, std::uint16_t tag) noexcept {
    thread_cache* last = &main;
    while (last->tag != tag && last->next_of_thread != nullptr) last = last->next_of_thread;
    if (last->tag == tag) return last;
    thread_cache* const added = process_core().open_cache(tag);
    if (added == nullptr) return nullptr;
    added->main = &main;
    last->next_of_thread = added;
    return added;
}

void change_cache(std::uint16_t now) noexcept {
    if (now >= max_tags) now = 0; // not the number of a tag: nothing is counted
    thread_cache* const main = process_cache()->main;
    thread_cache* const wanted = cache_for(*main, now);
    process_cache() = wanted != nullptr ? wanted : main;
    this_thread_tag().memo_id = now;
    this_thread_tag().memo_cache = wanted;
}

}

thread_cache* process_cache_or_open_for(std::uint16_t tag) noexcept {
    thread_cache* const present = process_cache_or_open();
    if (present == nullptr || tag >= max_tags) return present;
    thread_cache* const wanted = cache_for(*present->main, tag);
    return wanted != nullptr ? wanted : present;
}

bool push_tagged(const thread_cache& any, void* block) noexcept {
    const small_page& page = heap_segment::page_of(block, max_segment_bytes);
    const heap_shard* const owner = page.owner.load(std::memory_order_acquire);
    // While the heap counts, the slow path looks whether the block is in the profile.
    const bool is_quick = owner != nullptr && owner->tag != 0 && !any.is_counting && page.samples() == 0;
    thread_cache* mine = is_quick ? any.main : nullptr;
    while (mine != nullptr && mine->tag != owner->tag) mine = mine->next_of_thread;
    return mine != nullptr && push_into_tagged(*mine, page.class_index, block);
}

bool push_into_tagged(thread_cache& mine, std::size_t class_index, void* block) noexcept {
    // A profile that has begun or ended since the cache was used last: the slow path makes it follow.
    if (mine.is_counting || is_profiling.load(memory_order::relaxed)) return false;
    block_cache& blocks = mine.of_class[class_index];
    const std::uint32_t count = blocks.count.load(std::memory_order_relaxed);
    if (count >= tagged_room(class_index)) return false;
    blocks.blocks = mine.arrays + array_offsets[class_index];
    blocks.blocks[count] = block;
    blocks.count.store(count + 1, std::memory_order_release); // as push()
    return true;
}

void follow_tags() noexcept {
    this_thread_tag().heap_changed = &change_cache;
    this_thread_tag().memo_cache = nullptr;
    this_thread_tag().heap_cache = &platform::early_pointer<void>();
    if (this_thread_tag().id != 0) change_cache(this_thread_tag().id);
}

void forget_tags() noexcept {
    this_thread_tag().heap_cache = nullptr;
    this_thread_tag().memo_cache = nullptr;
}

void heap_core::count_tagged(std::uint16_t tag, std::size_t count, std::size_t bytes) noexcept {
    by_tag[tag].count.fetch_add(count, std::memory_order_relaxed);
    by_tag[tag].bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void heap_core::forget_tagged() noexcept {
    for (larger_blocks& each : by_tag) {
        each.count.store(0, std::memory_order_relaxed);
        each.bytes.store(0, std::memory_order_relaxed);
    }
}

std::uint16_t heap_core::tag_of_request(const thread_cache* cache) const noexcept {
    if (cache != nullptr && cache->tag != 0) return cache->tag;
    // A thread without a cache of its tag: at its end, or when out of memory. The thread's tag is read only if somebody
    // needs it: the first calls of a process come before there is one.
    if (passthrough_form_ != passthrough_form::plain) return 0;
    const bool is_budgeted = has_budgets.load(std::memory_order_relaxed) && has_budget(this_thread_tag().id);
    const bool is_counted = is_budgeted || (cache == nullptr && tells_blocks() && this_thread_tag().id < max_tags);
    return is_counted ? this_thread_tag().id : std::uint16_t{0};
}

std::size_t heap_core::held_by_tag(std::uint16_t tag, const thread_cache* cache) const noexcept {
    return small_.held_by_tag(tag, cache) + by_tag[tag].bytes.load(std::memory_order_relaxed);
}

void heap_core::return_cached(thread_cache* cache, std::uint16_t tag) noexcept {
    if (cache != nullptr && cache->tag == tag) small_.return_cached(*cache);
}

tagged_usage heap_core::usage_of_tag(std::uint16_t tag) const noexcept {
    if (tag == 0 || tag >= max_tags) return {};
    tagged_usage answer = small_.usage_of_tag(tag);
    answer.live_count += by_tag[tag].count.load(std::memory_order_relaxed);
    answer.live_bytes += by_tag[tag].bytes.load(std::memory_order_relaxed);
    return answer;
}

}
