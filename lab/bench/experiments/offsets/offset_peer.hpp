// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The four functions of a shared library that `tenure bench offsets --against ./lib.so` measures. The library defines
/// them around any offset allocator. Example: docs/guide/offset.md. Includes nothing of Tenure.

#include <cstdint>

extern "C" {

/// Creates an allocator for offsets from 0 to `capacity_bytes`.
/// Requires  every range begins at a multiple of `alignment_bytes`, a power of two; at most `max_ranges` are live.
/// Returns   the argument for the other functions; nullptr on failure, which fails the row.
void* tenure_offsets_create(std::uint64_t capacity_bytes, std::uint64_t alignment_bytes, std::uint64_t max_ranges);

/// Allocates a range. Writes to `*handle` what tenure_offsets_free() needs besides the offset.
/// Returns   the offset of its first byte; UINT64_MAX when out of memory.
std::uint64_t tenure_offsets_allocate(void* allocator, std::uint64_t size_bytes, std::uint64_t* handle);

/// Frees a range that was allocated and not yet freed.
void tenure_offsets_free(void* allocator, std::uint64_t offset, std::uint64_t handle);

/// Destroys the allocator. Ranges may still be live.
void tenure_offsets_destroy(void* allocator);
}
