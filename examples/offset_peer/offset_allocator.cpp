// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Sebastian Aaltonen's OffsetAllocator as a library for `tenure bench offsets --against`. docs/guide/offset.md shows
/// how to build it. OffsetAllocator has 32-bit offsets and no alignment, so this adapter counts in units of the
/// alignment.

#include <offsetAllocator.hpp>

#include "offset_peer.hpp"

namespace {

struct peer {
    std::uint64_t unit_bytes;
    OffsetAllocator::Allocator allocator;
};

}

void* tenure_offsets_create(std::uint64_t capacity_bytes, std::uint64_t alignment_bytes, std::uint64_t max_ranges) {
    const std::uint64_t units = capacity_bytes / alignment_bytes;
    const std::uint64_t nodes = 2 * max_ranges + 2; // each allocated range may have a free neighbour
    if (units >= UINT32_MAX || nodes >= UINT32_MAX) return nullptr;
    const auto count = static_cast<std::uint32_t>(units), most = static_cast<std::uint32_t>(nodes);
    return new peer{alignment_bytes, OffsetAllocator::Allocator(count, most)};
}

std::uint64_t tenure_offsets_allocate(void* allocator, std::uint64_t size_bytes, std::uint64_t* handle) {
    peer& from = *static_cast<peer*>(allocator);
    const auto units = static_cast<std::uint32_t>((size_bytes + from.unit_bytes - 1) / from.unit_bytes);
    const OffsetAllocator::Allocation made = from.allocator.allocate(units);
    *handle = made.metadata;
    return made.offset == OffsetAllocator::Allocation::NO_SPACE ? UINT64_MAX : made.offset * from.unit_bytes;
}

void tenure_offsets_free(void* allocator, std::uint64_t offset, std::uint64_t handle) {
    peer& from = *static_cast<peer*>(allocator);
    from.allocator.free({static_cast<std::uint32_t>(offset / from.unit_bytes), static_cast<std::uint32_t>(handle)});
}

void tenure_offsets_destroy(void* allocator) { delete static_cast<peer*>(allocator); }
