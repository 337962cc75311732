// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap_shard.hpp>

#include <algorithm>

#include <tenure/base/check.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct heap_shard::freed_bits {
    small_page* page;
    bit_word* word;
    bit_word bits;
};

void heap_shard::list(small_page& page) noexcept {
    small_page*& first = listed_[page.class_index];
    page.is_listed = true;
    page.previous = nullptr;
    page.next = first;
    if (first != nullptr) first->previous = &page;
    first = &page;
}

void heap_shard::unlist(small_page& page) noexcept {
    (page.previous != nullptr ? page.previous->next : listed_[page.class_index]) = page.next;
    if (page.next != nullptr) page.next->previous = page.previous;
    page.is_listed = false;
}

small_page* heap_shard::page_with_blocks(std::size_t class_index) noexcept {
    if (listed_[class_index] != nullptr) return listed_[class_index];
    small_page* const fresh = pages_.take(class_index);
    if (fresh == nullptr) return nullptr;
    fresh->owner.store(this, std::memory_order_release);
    ++page_count_[class_index];
    list(*fresh);
    return fresh;
}

namespace {

/// Moves blocks of a page to the end of `blocks`, lowest address last. Returns   how many, at most `room`.
std::size_t move_blocks(small_page& page, void** blocks, std::size_t room) noexcept {
    bit_word* const bits = heap_segment::of(&page)->bits_of(page);
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
        std::uintptr_t const begin = page.begin + word * bits_per_word * page.block_bytes;
        for (; group != 0 && taken < room; group = without_lowest_bit(group))
            blocks[room - ++taken] = pointer_at(begin + lowest_bit(group) * page.block_bytes);
        bits[word] = group;
        page.free_count = static_cast<std::uint16_t>(page.free_count + count_bits(group));
        bit_word const summary = bit_at(word);
        page.words_with_free = group != 0 ? page.words_with_free | summary : page.words_with_free & ~summary;
    }
    return taken;
}

}

std::size_t heap_shard::take(std::size_t class_index, void** blocks, std::size_t count) noexcept {
    std::lock_guard const lock(mutex_);
    std::size_t left = count;
    while (left != 0) {
        small_page* const page = page_with_blocks(class_index);
        if (page == nullptr) break;
        left -= move_blocks(*page, blocks, left);
        if (!page->has_blocks()) unlist(*page);
    }
    if (left != 0) std::copy(blocks + left, blocks + count, blocks);
    handed_out_[class_index] += count - left;
    return count - left;
}

void heap_shard::release(small_page& page) noexcept {
    unlist(page);
    --page_count_[page.class_index];
    pages_.give(page);
}

/// Requires  the lock.
void heap_shard::set_free(const freed_bits& freed) noexcept {
    small_page& page = *freed.page;
    bit_word const before = *freed.word;
    bit_word const twice = before & freed.bits;
    *freed.word = before | freed.bits;
    std::size_t const count = count_bits(freed.bits & ~before);
    page.free_count = static_cast<std::uint16_t>(page.free_count + count);
    page.words_with_free |= bit_at(static_cast<std::size_t>(freed.word - heap_segment::of(&page)->bits_of(page)));
    handed_out_[page.class_index] -= count;
    if (!page.is_listed) list(page);
    // One empty page is kept, so that a program at the edge of a page does not take and give it at each turn.
    bool const is_empty = page.free_count == page.blocks_used();
    if (is_empty && (page.next != nullptr || page.previous != nullptr)) release(page);
    if (twice != 0) {
        report_misuse("a heap block was freed twice", pointer_at(page.begin),
                      "The address is that of the block's page. Look for a second owner; the library built with checks "
                      "reports it at the second free itself.");
    }
}

void heap_shard::give(void* const* blocks, std::size_t count) noexcept {
    constexpr std::size_t most_at_once = 64;
    for (; count > most_at_once; blocks += most_at_once, count -= most_at_once) give(blocks, most_at_once);
    // First where each bit lies, so that pages and words, which are seldom near, are fetched while the next are looked
    // for. Blocks freed one after another often share a word: it is written once for all of them.
    freed_bits freed[most_at_once];
    std::size_t freed_count = 0;
    for (std::size_t each = 0; each < count; ++each) {
        heap_segment* const segment = heap_segment::of(blocks[each]);
        small_page& page = segment->page_of(blocks[each]);
        std::size_t const index = page.index_of(address_of(blocks[each]) - page.begin);
        bit_word* const word = segment->bits_of(page) + index / bits_per_word;
        if (freed_count != 0 && freed[freed_count - 1].word == word &&
            (freed[freed_count - 1].bits & bit_at(index)) == 0) {
            freed[freed_count - 1].bits |= bit_at(index);
            continue;
        }
        prefetch_for_write(word);
        freed[freed_count++] = {&page, word, bit_at(index)};
    }
    for (std::size_t each = 0; each < freed_count;) {
        heap_shard* const owner = freed[each].page->owner.load(std::memory_order_acquire);
        std::lock_guard const lock(owner->mutex_);
        do {
            owner->set_free(freed[each++]);
        } while (each < freed_count && freed[each].page->owner.load(std::memory_order_acquire) == owner);
    }
}

std::size_t heap_shard::release_empty_pages() noexcept {
    std::size_t count = 0;
    std::lock_guard const lock(mutex_);
    for (small_page* page : listed_) {
        while (page != nullptr) {
            small_page* const next = page->next;
            if (page->free_count == page->blocks_used()) {
                release(*page);
                ++count;
            }
            page = next;
        }
    }
    return count;
}

class_usage heap_shard::usage_of(std::size_t class_index) const noexcept {
    std::lock_guard const lock(mutex_);
    return {page_count_[class_index], handed_out_[class_index]};
}

bool heap_shard::valid() const noexcept {
    std::lock_guard const lock(mutex_);
    for (std::size_t index = 0; index < small_class_count; ++index) {
        small_page const* previous = nullptr;
        for (small_page const* page = listed_[index]; page != nullptr; previous = page, page = page->next) {
            bool const is_ours = page->owner.load(std::memory_order_relaxed) == this && page->class_index == index;
            if (!is_ours || !page->is_listed || page->previous != previous || !page->has_blocks()) return false;
            bit_word const* const bits = heap_segment::of(page)->bits_of(*page);
            std::size_t free = 0;
            for (std::size_t word = 0; word < page->word_count(); ++word) {
                bool const is_summarised = (page->words_with_free & bit_at(word)) != 0;
                if (is_summarised != (bits[word] != 0)) return false;
                free += count_bits(bits[word]);
            }
            if (free != page->free_count || free > page->blocks_used()) return false;
        }
    }
    return true;
}

}
