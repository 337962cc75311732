// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap_pages.hpp>

#include <cstring>
#include <new>

#include <tenure/platform/page_source.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::size_t slice_words = slices_per_segment / bits_per_word;

[[nodiscard]] std::uintptr_t slice_begin(const heap_segment& segment, std::size_t slice) noexcept {
    return address_of(&segment) + slice * slice_bytes;
}

/// Takes a run of 1 or 8 slices; 8 begin at a multiple of 8. Returns   the first, or slices_per_segment.
std::size_t take_slices(heap_segment& segment, std::size_t count) noexcept {
    constexpr bit_word first_of_eight = 0x0101'0101'0101'0101;
    for (std::size_t word = 0; word < slice_words; ++word) {
        bit_word free = segment.free_slices[word];
        if (count == 8) {
            // Bit 0 of each byte stays when all eight bits of it are set.
            free &= free >> 4;
            free &= free >> 2;
            free &= free >> 1;
            free &= first_of_eight;
        }
        if (free == 0) continue;
        std::size_t const bit = lowest_bit(free);
        segment.free_slices[word] &= ~(low_bits(count) << bit);
        return word * bits_per_word + bit;
    }
    return slices_per_segment;
}

bool is_empty(const heap_segment& segment) noexcept {
    std::size_t free = 0;
    for (bit_word const word : segment.free_slices) free += count_bits(word);
    return free == slices_per_segment - header_slices;
}

}

heap_pages::~heap_pages() {
    while (first_ != nullptr) {
        heap_segment* const released = first_;
        first_ = released->next;
        platform::remove_leak_root(released, heap_segment_bytes);
        source_.release(released, heap_segment_bytes);
    }
}

heap_segment* heap_pages::add_segment() noexcept {
    void* const memory = source_.acquire(heap_segment_bytes, heap_segment_bytes);
    if (memory == nullptr) return nullptr;
    auto* const segment = static_cast<heap_segment*>(memory);
    // Pages and bits are made with each page; what the system gives is zero anyway, and untouched.
    std::memset(segment->class_of_slice, no_class, sizeof segment->class_of_slice);
    for (std::size_t word = 0; word < slice_words; ++word) segment->free_slices[word] = ~bit_word{0};
    segment->free_slices[0] &= ~low_bits(header_slices);
    segment->next = first_;
    first_ = segment;
    ++segment_count_;
    platform::add_leak_root(memory, heap_segment_bytes);
    return segment;
}

small_page* heap_pages::take(std::size_t class_index) noexcept {
    std::size_t const slices = slices_of_page(class_index);
    heap_segment* segment = nullptr;
    std::size_t slice = slices_per_segment;
    {
        std::lock_guard const lock(mutex_);
        for (segment = first_; segment != nullptr; segment = segment->next) {
            slice = take_slices(*segment, slices);
            if (slice != slices_per_segment) break;
        }
        if (segment == nullptr) {
            segment = add_segment();
            if (segment == nullptr) return nullptr;
            slice = take_slices(*segment, slices);
        }
    }
    std::size_t const block_bytes = class_bytes(class_index);
    auto* const page = new (&segment->pages[slice]) small_page{};
    page->begin = slice_begin(*segment, slice);
    page->block_bytes = static_cast<std::uint32_t>(block_bytes);
    page->inverse = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + block_bytes - 1) / block_bytes);
    std::size_t const fitting = slices * slice_bytes / block_bytes;
    page->capacity = static_cast<std::uint16_t>(fitting < blocks_per_page ? fitting : blocks_per_page);
    page->class_index = static_cast<std::uint8_t>(class_index);
    std::memset(segment->bits[slice], 0, page->word_count() * sizeof(bit_word));
    for (std::size_t each = 0; each < slices; ++each) {
        segment->first_slice[slice + each] = static_cast<std::uint16_t>(slice);
        segment->class_of_slice[slice + each] = static_cast<std::uint8_t>(class_index);
    }
    return page;
}

void heap_pages::give(small_page& page) noexcept {
    heap_segment& segment = *heap_segment::of(&page);
    auto const slice = static_cast<std::size_t>(&page - segment.pages);
    std::size_t const slices = slices_of_page(page.class_index);
    page.owner.store(nullptr, std::memory_order_relaxed);
    std::memset(segment.class_of_slice + slice, no_class, slices);
    std::lock_guard const lock(mutex_);
    segment.free_slices[slice / bits_per_word] |= low_bits(slices) << (slice % bits_per_word);
}

std::size_t heap_pages::trim() noexcept {
    std::size_t bytes = 0;
    std::lock_guard const lock(mutex_);
    for (heap_segment** link = &first_; *link != nullptr;) {
        heap_segment* const segment = *link;
        if (is_empty(*segment)) {
            *link = segment->next;
            --segment_count_;
            platform::remove_leak_root(segment, heap_segment_bytes);
            source_.release(segment, heap_segment_bytes);
            bytes += heap_segment_bytes;
            continue;
        }
        for (std::size_t word = 0; word < slice_words; ++word) {
            for_each_bit(segment->free_slices[word], [&](std::size_t bit) {
                void* const slice = pointer_at(slice_begin(*segment, word * bits_per_word + bit));
                if (source_.decommit(slice, slice_bytes)) bytes += slice_bytes;
            });
        }
        link = &segment->next;
    }
    return bytes;
}

std::size_t heap_pages::segment_count() const noexcept {
    std::lock_guard const lock(mutex_);
    return segment_count_;
}

bool heap_pages::owns(const void* pointer) const noexcept {
    std::lock_guard const lock(mutex_);
    for (heap_segment const* segment = first_; segment != nullptr; segment = segment->next) {
        if (address_of(pointer) - address_of(segment) < heap_segment_bytes) return true;
    }
    return false;
}

}
