// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/small/heap_shard.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include <tenure/base/check.hpp>
#include <tenure/base/linked_list.hpp>
#include <tenure/engine/freed_words.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>
#include <tenure/heap/detail/purge/page_purge.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct heap_shard::freed_bits : freed_word {
    small_page* page;
    std::uint32_t count; ///< number of bits: cheaper to keep than to count
};

void heap_shard::list(small_page& page) noexcept {
    push_front(listed_[page.class_index], page);
    page.is_listed = true;
}

/// Called at the first free in a page that was full, or that sweeps found unchanged: there may be something to return.
TENURE_COLD void heap_shard::note_change(small_page& page) noexcept {
    if (!page.is_listed) list(page);
    page.age.store(page_age::changed, std::memory_order_relaxed);
    freed_.add(pages_.memory(), slices_of_page(page.class_index) * slice_bytes);
}

void heap_shard::unlist(small_page& page) noexcept {
    detail::unlink(listed_[page.class_index], page);
    page.is_listed = false;
}

/// Requires  the lock. Differences wrap around.
void heap_shard::hold(std::size_t bytes) noexcept {
    held_bytes_.store(held_bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

small_page* heap_shard::page_with_blocks(std::size_t class_index) noexcept {
    if (listed_[class_index] != nullptr) return listed_[class_index];
    small_page* const fresh = pages_.allocate(class_index, tag != 0);
    if (fresh == nullptr) return nullptr;
    // Release: who loads it without a lock sees the shard and the page, as purge_page() and copy_use() need.
    fresh->owner.store(this, std::memory_order_release);
    ++page_count_[class_index];
    list(*fresh);
    return fresh;
}

namespace {

/// In checked builds: writes the canaries of blocks that leave their page for the first time, and of the gap in front
/// of the first block. Blocks leave in the order of their addresses, so the block in front of each has one already.
void mark_fresh(const small_page& page, void* const* blocks, std::size_t count, std::size_t segment_bytes) noexcept {
    auto* const segment = static_cast<heap_segment*>(segment_head::of(&page, segment_bytes));
    state_byte* const states = segment->states(static_cast<std::size_t>(&page - segment->pages), segment_bytes);
    const canary_keys keys = keys_of_canaries();
    const auto mark = [&](std::uintptr_t block) {
        const std::uint64_t canary = canary_for(keys, block, guard_bytes);
        void* const at = pointer_at(block + page.block_bytes - sizeof canary);
        platform::unpoison(at, sizeof canary);
        std::memcpy(at, &canary, sizeof canary);
        platform::poison(at, sizeof canary);
    };
    for (std::size_t each = 0; each < count; ++each) {
        const std::size_t index = (address_of(blocks[each]) - page.begin) / page.block_bytes;
        if (states[index].load(std::memory_order_relaxed) != state_fresh) continue;
        if (index == 0) mark(page.begin - page.block_bytes);
        mark(address_of(blocks[each]));
        states[index].store(state_marked, std::memory_order_relaxed);
    }
}

/// Moves blocks of a page to the end of `blocks`, lowest address last.
/// Returns   the number of blocks, at most `room`.
std::size_t move_blocks(small_page& page, void** blocks, std::size_t room, heap_memory& memory) noexcept {
    bit_word* const bits = page.bits;
    std::size_t taken = 0;
    while (taken < room && page.has_blocks()) {
        std::size_t word = page.words_used;
        bit_word group = 0;
        if (page.words_with_free != 0) {
            word = lowest_bit(page.words_with_free);
            group = bits[word];
            page.free_count = static_cast<std::uint16_t>(page.free_count - count_bits(group));
        } else {
            group = low_bits(std::min(page.capacity - word * bits_per_word, bits_per_word));
            ++page.words_used;
        }
        const std::uintptr_t begin = page.begin + word * bits_per_word * page.block_bytes;
        const std::size_t before = taken;
        for (; group != 0 && taken < room; group = without_lowest_bit(group))
            blocks[room - ++taken] = pointer_at(begin + lowest_bit(group) * page.block_bytes);
        if (page.has_purged) [[unlikely]]
            forget_purged_units(page, memory, address_of(blocks[room - before - 1]),
                                address_of(blocks[room - taken]) + page.block_bytes);
        bits[word] = group;
        page.free_count = static_cast<std::uint16_t>(page.free_count + count_bits(group));
        const bit_word summary = bit_at(word);
        page.words_with_free = group != 0 ? page.words_with_free | summary : page.words_with_free & ~summary;
    }
    return taken;
}

}

std::size_t heap_shard::refill(std::size_t class_index, void** blocks, std::size_t count) noexcept {
    const platform::lock_guard lock(mutex_);
    std::size_t left = count;
    while (left != 0) {
        small_page* const page = page_with_blocks(class_index);
        if (page == nullptr) break;
        if (page->age.load(std::memory_order_relaxed) != page_age::changed) note_change(*page);
        const std::size_t moved = move_blocks(*page, blocks, left, pages_.memory());
        left -= moved;
        if (checks::caller && class_index >= first_checked_class)
            mark_fresh(*page, blocks + left, moved, pages_.memory().segment_bytes());
        if (!page->has_blocks()) unlist(*page);
    }
    if (left != 0) std::copy(blocks + left, blocks + count, blocks);
    allocated_[class_index] += count - left;
    if (tag != 0) hold((count - left) * class_bytes(class_index));
    return count - left;
}

void heap_shard::release(small_page& page) noexcept {
    unlist(page);
    --page_count_[page.class_index];
    pages_.deallocate(page);
}

void twice_freed::note(const small_page& page) noexcept {
    log_.add("a heap block was freed twice", pointer_at(page.begin),
             checks::caller ? "The address is that of the block's page. Look for a second owner, and for two threads "
                              "that freed the block at the same moment."
                            : "The address is that of the block's page. Look for a second owner; the library built "
                              "with checks reports it at the second free itself.");
}

/// Requires  the lock.
/// Returns   whether one of the blocks was already free.
TENURE_ALWAYS_INLINE bool heap_shard::set_free(const freed_bits& freed) noexcept {
    small_page& page = *freed.page;
    const bit_word before = *freed.word;
    *freed.word = before | freed.bits;
    const bit_word twice = freed.bits & before;
    const std::size_t count = twice == 0 ? freed.count : count_bits(freed.bits & ~before);
    page.free_count = static_cast<std::uint16_t>(page.free_count + count);
    page.words_with_free |= bit_at(static_cast<std::size_t>(freed.word - page.bits));
    allocated_[page.class_index] -= count;
    if (tag != 0) hold(std::size_t{0} - count * class_bytes(page.class_index));
    if (!page.is_listed || page.age.load(std::memory_order_relaxed) != page_age::changed) [[unlikely]]
        note_change(page);
    // Release an empty page at once, so that other sizes can use it: allocating it again costs no more than a batch,
    // and its memory is retained for a while. Checked builds keep the last page, which knows its freed blocks.
    if (page.is_empty()) [[unlikely]] {
        const bool is_last = page.next == nullptr && page.previous == nullptr;
        if (!(checks::caller && is_last)) release(page);
    }
    return twice != 0;
}

/// Finds the bits of blocks. The slice's class is enough to find them, without reading the page record: records are
/// seldom in the CPU cache, and are prefetched while the next ones are looked up. With `Near`, blocks that share a page
/// reuse its lookup.
/// Returns   the number of entries in `found`.
template<bool Near>
TENURE_ALWAYS_INLINE std::size_t heap_shard::find_bits(void* const* blocks, std::size_t count,
                                                       std::size_t segment_bytes, freed_bits* found) noexcept {
    block_page home;
    const auto locate = [&](const void* block) noexcept {
        if (!Near || !home.contains(block)) {
            home = heap_segment::place_of(block, segment_bytes);
            prefetch_for_write(home.page);
        }
        const std::size_t number = home.number_of(block);
        return freed_bits{{home.bits + number / bits_per_word, bit_at(number)}, home.page, 1};
    };
    return locate_freed(blocks, count, found, locate, [](freed_bits& joined) noexcept { ++joined.count; });
}

void heap_shard::flush(void* const* blocks, std::size_t count, std::size_t segment_bytes, twice_freed& noted) noexcept {
    for (; count > max_freed_words; blocks += max_freed_words, count -= max_freed_words)
        flush(blocks, max_freed_words, segment_bytes, noted);
    if (count == 0) return;
    freed_bits freed[max_freed_words];
    const bool is_near = count > 1 && (address_of(blocks[0]) ^ address_of(blocks[count / 2])) < slice_bytes;
    const std::size_t freed_count = is_near ? find_bits<true>(blocks, count, segment_bytes, freed)
                                            : find_bits<false>(blocks, count, segment_bytes, freed);
    for (std::size_t each = 0; each < freed_count;) {
        // Who has a block sees its page's owner. Acquire for a block that was freed twice: the page may have another.
        heap_shard* const owner = freed[each].page->owner.load(std::memory_order_acquire);
        if (owner == nullptr) { // the page was released when all its blocks were free
            noted.note(*freed[each++].page);
            continue;
        }
        const platform::lock_guard lock(owner->mutex_);
        do {
            if (owner->set_free(freed[each])) noted.note(*freed[each].page);
            ++each;
        } while (each < freed_count && freed[each].page->owner.load(std::memory_order_acquire) == owner);
    }
}

// Not in checked builds: they inspect a freed block's contents when it is reused.
std::size_t heap_shard::purge_page(small_page& page, heap_memory& memory, bool& is_awaited) noexcept {
    if constexpr (checks::caller) return 0;
    heap_shard* const owner = page.owner.load(std::memory_order_acquire); // see page_with_blocks()
    if (owner == nullptr) return 0;
    const std::unique_lock lock(owner->mutex_, std::try_to_lock);
    is_awaited = !lock.owns_lock() || owner->mutex_.has_waiters();
    if (!lock.owns_lock()) return 0;
    // The page may have been released meanwhile, and allocated again by this owner or another. Relaxed: a page leaves
    // its owner under the owner's lock, so an older value cannot be read here.
    if (page.owner.load(std::memory_order_relaxed) != owner) return 0;
    page.age.store(page_age::purged, std::memory_order_relaxed);
    const std::size_t bytes = purge_free_units(page, memory, memory.sweeps());
    is_awaited = owner->mutex_.has_waiters();
    return bytes;
}

std::size_t heap_shard::trim_pages() noexcept {
    if constexpr (checks::caller) return 0;
    std::size_t bytes = 0;
    const auto long_ago = static_cast<std::uint16_t>(pages_.memory().sweeps() - sweeps_per_delay);
    const platform::lock_guard lock(mutex_);
    for (small_page* page : listed_) {
        for (; page != nullptr; page = page->next) bytes += purge_free_units(*page, pages_.memory(), long_ago);
    }
    return bytes;
}

bool heap_shard::copy_use(const small_page& page, page_in_use& to) noexcept {
    const heap_shard* const owner = page.owner.load(std::memory_order_acquire); // see page_with_blocks()
    if (owner == nullptr) return false;
    const platform::lock_guard lock(owner->mutex_);
    if (page.owner.load(std::memory_order_relaxed) != owner) return false; // released meanwhile, and perhaps reused
    to.begin = page.begin;
    to.block_bytes = page.block_bytes;
    to.blocks_used = static_cast<std::uint32_t>(page.blocks_used());
    std::copy_n(page.bits, page.words_used, to.free_bits);
    return true;
}

std::size_t heap_shard::release_empty_pages() noexcept {
    std::size_t count = 0;
    const platform::lock_guard lock(mutex_);
    for (small_page* page : listed_) {
        while (page != nullptr) {
            small_page* const after = page->next;
            if (page->is_empty()) {
                release(*page);
                ++count;
            }
            page = after;
        }
    }
    return count;
}

void heap_shard::forget_pages() noexcept {
    const platform::lock_guard lock(mutex_);
    for (std::size_t index = 0; index < small_class_count; ++index) {
        listed_[index] = nullptr;
        page_count_[index] = allocated_[index] = 0;
    }
    held_bytes_.store(0, std::memory_order_relaxed);
}

class_usage heap_shard::usage_of(std::size_t class_index) const noexcept {
    const platform::lock_guard lock(mutex_);
    return {page_count_[class_index], allocated_[class_index]};
}

bool heap_shard::valid() const noexcept {
    const platform::lock_guard lock(mutex_);
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const small_page* previous = nullptr;
        for (const small_page* page = listed_[index]; page != nullptr; previous = page, page = page->next) {
            const bool is_ours = page->owner.load(std::memory_order_relaxed) == this && page->class_index == index;
            if (!is_ours || !page->is_listed || page->previous != previous || !page->has_blocks()) return false;
            std::size_t free = 0;
            for (std::size_t word = 0; word < page->word_count(); ++word) {
                const bool is_summarised = (page->words_with_free & bit_at(word)) != 0;
                if (is_summarised != (page->bits[word] != 0)) return false;
                free += count_bits(page->bits[word]);
            }
            if (free != page->free_count || free > page->blocks_used()) return false;
        }
    }
    return true;
}

}
