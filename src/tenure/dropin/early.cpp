// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Code that runs here before relocation must not call anything outside the library, not even memset. Compilers turn
// loops into memset, so bytes are written as volatile.

#include <tenure/dropin/detail/early.hpp>

#include <algorithm>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/dropin/detail/quick.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/platform/unrelocated.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

/// Header in front of each block.
struct alignas(16) early_head {
    std::size_t bytes;
};

// Laid out like a segment, so that free() may mask a pointer and read: all slices are marked as having no blocks.
struct early_segment {
    std::uintptr_t next = 0; ///< where the next block may start; 0 before the first
    std::uintptr_t end = 0;
};
constinit early_segment segment{};

[[nodiscard]] bool make_segment() noexcept {
    constexpr std::size_t bytes = detail::max_segment_bytes;
    void* const mapped = platform::map_unrelocated(2 * bytes); // untouched memory costs nothing
    if (mapped == nullptr) return false;
    const std::uintptr_t begin = align_up(address_of(mapped), bytes);
    volatile auto* const classes = static_cast<volatile std::uint8_t*>(pointer_at(begin));
    for (std::size_t slice = 0; slice < detail::max_slices; ++slice) classes[slice] = detail::no_class;
    segment.end = begin + bytes;
    segment.next = begin + sizeof(detail::segment_head);
    return true;
}

}

void* allocate_early(std::size_t bytes, std::size_t alignment) noexcept {
    if (segment.next == 0 && !make_segment()) return nullptr;
    if (alignment > detail::slice_bytes) return nullptr;
    const std::uintptr_t begin = align_up(segment.next + sizeof(early_head), std::max<std::size_t>(alignment, 16));
    if (begin > segment.end || bytes >= segment.end - begin) return nullptr;
    static_cast<early_head*>(pointer_at(begin - sizeof(early_head)))->bytes = bytes;
    segment.next = begin + bytes;
    return pointer_at(begin);
}

bool is_early(const void* block) noexcept {
    const std::uintptr_t address = address_of(block);
    return address < segment.next && address >= segment.end - detail::max_segment_bytes;
}

std::size_t early_bytes(const void* block) noexcept {
    return static_cast<const early_head*>(pointer_at(address_of(block) - sizeof(early_head)))->bytes;
}

void* move_early(const void* block, std::size_t bytes) noexcept {
    void* const moved = allocate_slow(bytes, default_alignment);
    if (moved == nullptr) return nullptr;
    const volatile auto* const from = static_cast<const volatile char*>(block);
    volatile auto* const to = static_cast<volatile char*>(moved);
    for (std::size_t index = 0; index < std::min(bytes, early_bytes(block)); ++index) to[index] = from[index];
    return moved;
}

}
