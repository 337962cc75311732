// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_core.hpp>

#include <algorithm>

#include <tenure/base/tag.hpp>
#include <tenure/heap/heap.hpp>

// Allocations under an owner tag have their own pages, so that live statistics by tag are exact and untagged calls pay
// nothing. A thread that changes its tag changes its cache. A free of a tagged block takes the slow path.

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// Larger blocks of the one heap with tags, the process heap.
struct larger_blocks {
    std::atomic<std::size_t> count;
    std::atomic<std::size_t> bytes;
};
constinit larger_blocks by_tag[max_tags]{};

void change_cache(std::uint16_t now) noexcept {
    if (now >= max_tags) now = 0; // not the number of a tag: nothing is counted
    thread_cache* const main = process_cache()->main;
    thread_cache* last = main;
    while (last->tag != now && last->next_of_thread != nullptr) last = last->next_of_thread;
    if (last->tag == now) {
        process_cache() = last;
        return;
    }
    thread_cache* const added = process_core().open_cache(now);
    process_cache() = added != nullptr ? added : main;
    if (added == nullptr) return;
    added->main = main;
    last->next_of_thread = added;
}

}

void follow_tags() noexcept {
    current_tag.heap_changed = &change_cache;
    if (current_tag.id != 0) change_cache(current_tag.id);
}

void forget_tags() noexcept { current_tag.heap_changed = nullptr; }

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

tagged_usage heap_core::usage_of_tag(std::uint16_t tag) const noexcept {
    if (tag == 0 || tag >= max_tags) return {};
    tagged_usage answer = small_.usage_of_tag(tag);
    answer.live_count += by_tag[tag].count.load(std::memory_order_relaxed);
    answer.live_bytes += by_tag[tag].bytes.load(std::memory_order_relaxed);
    return answer;
}

}
