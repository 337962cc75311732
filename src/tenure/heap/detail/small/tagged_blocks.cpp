// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <atomic>

#include <tenure/heap/detail/small/small_blocks.hpp>
#include <tenure/platform/thread.hpp>

// Small blocks under an owner tag: the shards of each tag, and what it holds in them.

namespace tenure::inline TENURE_ABI::detail {

namespace {

// Each tag that allocates has its own pages: at least one per size, in each of its shards.
constexpr std::size_t max_tags_with_pages = 256;
constexpr std::size_t max_further_shards = 256; ///< for tags that several threads use at a time

}

/// Requires  the lock.
heap_shard* small_blocks::first_of_tag(std::uint16_t tag) const noexcept {
    const heap_shard* shard = shards_;
    while (shard != nullptr && shard->tag != tag) shard = shard->next;
    return shard != nullptr ? shard->first_of_tag : nullptr;
}

/// The tag's first shard; nullptr when too many tags have one.
/// Requires  the lock.
heap_shard* small_blocks::first_for_tag(std::uint16_t tag) noexcept {
    heap_shard* const present = first_of_tag(tag);
    if (present != nullptr || tag_count_ == max_tags_with_pages) return present;
    heap_shard* const added = add_shard(tag);
    if (added != nullptr) ++tag_count_;
    return added;
}

/// As shard_for_thread(), among the tag's shards: threads under one tag would otherwise wait for each other's refills,
/// and each free would read records that the others write.
/// Requires  the lock.
heap_shard* small_blocks::shard_for_tag(std::uint16_t tag) noexcept {
    heap_shard* const first = first_for_tag(tag);
    heap_shard* best = first;
    std::size_t count = 0;
    for (heap_shard* each = first; each != nullptr; each = each->next_of_tag.load(std::memory_order_relaxed), ++count) {
        if (each->user_count < best->user_count) best = each;
    }
    const bool may_add = best != nullptr && best->user_count != 0 && further_count_ < max_further_shards &&
                         count < platform::processor_count();
    heap_shard* const added = may_add ? add_shard(tag) : nullptr;
    if (added == nullptr) return best;
    ++further_count_;
    added->first_of_tag = first;
    added->next_of_tag.store(first->next_of_tag.load(std::memory_order_relaxed), std::memory_order_relaxed);
    first->next_of_tag.store(added, std::memory_order_release);
    return added;
}

void* small_blocks::allocate_tagged(std::uint16_t tag, std::size_t class_index) noexcept {
    heap_shard* shard = nullptr;
    {
        const platform::lock_guard lock(mutex_);
        shard = first_for_tag(tag);
    }
    void* block = nullptr;
    return shard != nullptr && shard->refill(class_index, &block, 1) == 1 ? block : nullptr;
}

/// Frees a block of a tag's own page. It goes to the thread's cache for that tag, if there is one.
void small_blocks::deallocate_tagged(thread_cache* cache, void* block, std::size_t class_index) noexcept {
    const small_page& page = heap_segment::page_of(block, segment_bytes());
    const heap_shard* const owner = page.owner.load(std::memory_order_acquire);
    const std::uint16_t tag = owner != nullptr ? owner->tag : std::uint16_t{0};
    thread_cache* mine = cache == nullptr || tag == 0 ? nullptr : cache->main;
    while (mine != nullptr && mine->tag != tag) mine = mine->next_of_thread;
    if (mine == nullptr) return heap_shard::flush(&block, 1, segment_bytes());
    follow_trims(*mine); // and profiles
    twice_freed noted;
    block_cache& blocks = mine->freed(class_index);
    if (mine->is_counting && mine->stocks == nullptr) return heap_shard::flush(&block, 1, segment_bytes(), noted);
    if (!mine->is_counting) blocks.blocks = mine->arrays + array_offsets[class_index];
    if (blocks.count.load(std::memory_order_relaxed) == tagged_room(class_index))
        flush(blocks, (tagged_room(class_index) + 1) / 2, noted);
    const std::uint32_t count = blocks.count.load(std::memory_order_relaxed);
    blocks.blocks[count] = block;
    blocks.count.store(count + 1, std::memory_order_release);
}

// Statistics.

std::size_t small_blocks::held_by_tag(std::uint16_t tag, const thread_cache* cache) const noexcept {
    if (cache != nullptr && cache->tag == tag) return cache->shard->held_by_tag();
    const platform::lock_guard lock(mutex_);
    const heap_shard* const first = first_of_tag(tag);
    return first != nullptr ? first->held_by_tag() : 0;
}

void small_blocks::return_cached(thread_cache& cache) const noexcept {
    twice_freed noted;
    empty(cache, noted);
}

tagged_usage small_blocks::usage_of_tag(std::uint16_t tag) const noexcept {
    tagged_usage answer;
    const platform::lock_guard lock(mutex_);
    // The caches once, not once per size: with a cache per tag and thread, most of them belong to other tags.
    std::size_t cached[small_class_count]{};
    for (const thread_cache* cache = caches_; cache != nullptr; cache = cache->next) {
        if (cache->tag != tag) continue;
        for (std::size_t index = 0; index < small_class_count; ++index) {
            for (const std::size_t number : {index, counted_classes + index})
                cached[index] += cache->of_class[number].count.load(std::memory_order_relaxed);
        }
    }
    for (const heap_shard* shard = shards_; shard != nullptr; shard = shard->next) {
        if (shard->tag != tag) continue;
        for (std::size_t index = 0; index < small_class_count; ++index) {
            const std::size_t allocated = shard->usage_of(index).allocated;
            const std::size_t live = allocated - std::min(allocated, cached[index]);
            answer.live_count += live;
            answer.live_bytes += live * class_bytes(index);
        }
    }
    return answer;
}

}
