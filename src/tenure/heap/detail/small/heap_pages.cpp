// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/small/heap_pages.hpp>

#include <cstring>
#include <utility>

#include <tenure/platform/process.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::size_t slice_words = max_slices / bits_per_word;

[[nodiscard]] void* slice_at(const heap_segment& segment, std::size_t slice) noexcept {
    return pointer_at(address_of(&segment) + slice * slice_bytes);
}

/// Calls `visit(first, count)` for each run of set bits.
template<class Visit>
void for_each_run(const bit_word (&words)[slice_words], Visit&& visit) noexcept {
    std::size_t begin = 0, count = 0;
    for (std::size_t slice = 0; slice < max_slices; ++slice) {
        if ((words[slice / bits_per_word] & bit_at(slice)) != 0) {
            if (count++ == 0) begin = slice;
        } else if (count != 0) {
            visit(begin, std::exchange(count, 0));
        }
    }
    if (count != 0) visit(begin, count);
}

}

/// Allocates a run of 1, 2, 4 or 8 slices, at a multiple of its length.
/// Returns   the first slice, or max_slices.
std::size_t heap_pages::allocate_slices(heap_segment& segment, std::size_t count, among which) const noexcept {
    const bit_word first_of_each = ~bit_word{0} / low_bits(count); // every count-th bit
    for (std::size_t word = 0; word < slice_words; ++word) {
        bit_word free = segment.free_slices[word];
        if (which == among::touched) free &= segment.dirty_slices[word];
        // The first bit of each run stays set if all bits of the run are set.
        for (std::size_t joined = 1; joined < count; joined *= 2) free &= free >> joined;
        free &= first_of_each;
        if (free == 0) continue;
        const std::size_t bit = lowest_bit(free);
        const bit_word taken = low_bits(count) << bit;
        segment.free_slices[word] &= ~taken;
        segment.dirty_slices[word] |= taken;
        segment.stale_slices[word] &= ~taken;
        segment.free_count -= count;
        return word * bits_per_word + bit;
    }
    return max_slices;
}

void heap_pages::release_all() noexcept {
    while (first_ != nullptr) {
        heap_segment* const released = first_;
        first_ = released->next;
        memory_.withdraw(*released);
        memory_.release(released, memory_.segment_bytes());
    }
    first_free_ = nullptr;
    segment_count_ = 0;
}

void heap_pages::list_free(heap_segment& segment) noexcept {
    if (segment.is_listed_free) return;
    segment.is_listed_free = true;
    segment.next_free = first_free_;
    first_free_ = &segment;
}

/// Rebuilds the list after segments were released.
void heap_pages::relist_free() noexcept {
    first_free_ = nullptr;
    for (heap_segment* segment = first_; segment != nullptr; segment = segment->next) {
        segment->is_listed_free = false;
        if (segment->free_count != 0) list_free(*segment);
    }
}

heap_segment* heap_pages::add_segment() noexcept {
    void* const memory = memory_.acquire(memory_.segment_bytes(), memory_.segment_bytes());
    if (memory == nullptr) return nullptr;
    auto* const segment = static_cast<heap_segment*>(memory);
    if (!memory_.announce(*segment, no_class)) {
        memory_.release(memory, memory_.segment_bytes());
        return nullptr;
    }
    // allocate() initializes page records and bits.
    std::memset(segment->free_slices, 0, sizeof segment->free_slices);
    std::memset(segment->dirty_slices, 0, sizeof segment->dirty_slices);
    std::memset(segment->stale_slices, 0, sizeof segment->stale_slices);
    for (std::size_t slice = head_slices(); slice < slice_count(); ++slice)
        segment->free_slices[slice / bits_per_word] |= bit_at(slice);
    segment->free_count = slice_count() - head_slices();
    segment->next = first_;
    segment->is_listed_free = false;
    first_ = segment;
    ++segment_count_;
    list_free(*segment);
    return segment;
}

small_page* heap_pages::allocate(std::size_t class_index, std::uint8_t number) noexcept {
    const std::size_t slices = slices_of_page(class_index);
    heap_segment* segment = nullptr;
    std::size_t slice = max_slices;
    {
        const platform::lock_guard lock(mutex_);
        while (first_free_ != nullptr && first_free_->free_count == 0) {
            first_free_->is_listed_free = false;
            first_free_ = first_free_->next_free;
        }
        // Touched memory causes no page fault and does not increase the process's memory.
        for (const among which : {among::touched, among::all}) {
            for (segment = first_free_; segment != nullptr; segment = segment->next_free) {
                slice = allocate_slices(*segment, slices, which);
                if (slice != max_slices) break;
            }
            if (segment != nullptr) break;
        }
        if (segment == nullptr) {
            segment = add_segment();
            if (segment == nullptr) return nullptr;
            slice = allocate_slices(*segment, slices, among::all);
            if (slice == max_slices) return nullptr; // the segments are too small for a long page
        }
    }
    memory_.count_use(slices * slice_bytes);
    const std::size_t block_bytes = class_bytes(class_index);
    small_page& page = segment->pages[slice];
    page.begin = address_of(slice_at(*segment, slice));
    page.words_with_free = 0;
    page.block_bytes = static_cast<std::uint32_t>(block_bytes);
    const std::size_t fitting = slices * slice_bytes / block_bytes;
    page.capacity = static_cast<std::uint16_t>(fitting < blocks_per_page ? fitting : blocks_per_page);
    page.free_count = 0;
    page.words_used = 0;
    page.class_index = static_cast<std::uint8_t>(class_index);
    page.is_listed = false;
    page.bits = has_long_bits(class_index) ? segment->long_bits(slice, memory_.segment_bytes()) : page.own_bits;
    std::memset(page.bits, 0, page.word_count() * sizeof(bit_word));
    for (std::size_t each = 0; each < slices; ++each) {
        segment->first_slice[slice + each] = static_cast<std::uint16_t>(slice);
        segment->class_of_slice[slice + each] = number;
    }
    return &page;
}

void heap_pages::deallocate(small_page& page) noexcept {
    auto& segment = *static_cast<heap_segment*>(segment_head::of(&page, memory_.segment_bytes()));
    const auto slice = static_cast<std::size_t>(&page - segment.pages);
    const std::size_t slices = slices_of_page(page.class_index);
    page.owner.store(nullptr, std::memory_order_relaxed);
    if constexpr (checks::caller) platform::unpoison(pointer_at(page.begin), slices * slice_bytes);
    std::memset(segment.class_of_slice + slice, no_class, slices);
    memory_.uncount_use(slices * slice_bytes);
    const platform::lock_guard lock(mutex_);
    segment.free_slices[slice / bits_per_word] |= low_bits(slices) << (slice % bits_per_word);
    segment.free_count += slices;
    list_free(segment);
}

std::size_t heap_pages::trim() noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (heap_segment** link = &first_; *link != nullptr;) {
        heap_segment* const segment = *link;
        bit_word touched[slice_words];
        for (std::size_t word = 0; word < slice_words; ++word) {
            touched[word] = segment->free_slices[word] & segment->dirty_slices[word];
            segment->dirty_slices[word] &= ~touched[word];
            segment->stale_slices[word] = 0;
        }
        if (segment->free_count == slice_count() - head_slices()) {
            for (const bit_word word : touched) bytes += count_bits(word) * slice_bytes;
            bytes += head_slices() * slice_bytes;
            *link = segment->next;
            --segment_count_;
            memory_.withdraw(*segment);
            memory_.release(segment, memory_.segment_bytes());
            continue;
        }
        for_each_run(touched, [&](std::size_t slice, std::size_t count) {
            if (memory_.decommit(slice_at(*segment, slice), count * slice_bytes)) bytes += count * slice_bytes;
        });
        link = &segment->next;
    }
    relist_free();
    return bytes;
}

std::size_t heap_pages::sweep() noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (heap_segment* segment = first_; segment != nullptr; segment = segment->next) {
        bit_word old[slice_words];
        bit_word any = 0;
        for (std::size_t word = 0; word < slice_words; ++word) {
            const bit_word touched = segment->free_slices[word] & segment->dirty_slices[word];
            old[word] = touched & segment->stale_slices[word];
            segment->dirty_slices[word] &= ~old[word];
            segment->stale_slices[word] = touched & ~old[word];
            any |= old[word];
        }
        if (any == 0) continue;
        for_each_run(old, [&](std::size_t slice, std::size_t count) {
            if (memory_.decommit(slice_at(*segment, slice), count * slice_bytes)) bytes += count * slice_bytes;
        });
    }
    return bytes;
}

void heap_pages::for_each_page(void (*visit)(void* context, small_page&), void* context) const noexcept {
    for (heap_segment* segment = first_; segment != nullptr; segment = segment->next) {
        for (std::size_t slice = head_slices(); slice < slice_count();) {
            const std::uint8_t number = segment->class_of_slice[slice];
            if (number >= small_class_count && number != tagged_class) {
                ++slice;
                continue;
            }
            small_page& page = segment->pages[slice];
            slice += slices_of_page(page.class_index); // before the visit, which may free the page
            visit(context, page);
        }
    }
}

std::size_t heap_pages::committed_bytes() const noexcept {
    std::size_t slices = 0;
    const platform::lock_guard lock(mutex_);
    for (const heap_segment* segment = first_; segment != nullptr; segment = segment->next) {
        slices += head_slices();
        for (const bit_word word : segment->dirty_slices) slices += count_bits(word);
    }
    return slices * slice_bytes;
}

std::size_t heap_pages::resident_bytes() const noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (const heap_segment* segment = first_; segment != nullptr; segment = segment->next)
        bytes += platform::resident_bytes_in(segment, memory_.segment_bytes());
    return bytes;
}

std::size_t heap_pages::segment_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return segment_count_;
}

}
