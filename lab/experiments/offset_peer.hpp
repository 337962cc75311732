// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The four functions of a shared library that `tenure bench offsets --against ./lib.so` measures. They are defined in
/// the library, around any allocator of offsets. Example: docs/guide/offset.md. Includes nothing of Tenure.

#include <cstdint>

extern "C" {

/// Makes an allocator for offsets from 0 to `capacity_bytes`.
/// Requires  every range begins at a multiple of `alignment_bytes`, a power of two; at most `max_ranges` are live.
/// Returns   what the other functions are given; null when it cannot be made: the row then fails.
void* tenure_offsets_create(std::uint64_t capacity_bytes, std::uint64_t alignment_bytes, std::uint64_t max_ranges);

/// Allocates a range. `*handle` takes what tenure_offsets_free() needs beside the offset.
/// Returns   the offset of its first byte; UINT64_MAX when refused.
std::uint64_t tenure_offsets_allocate(void* allocator, std::uint64_t size_bytes, std::uint64_t* handle);

/// Frees a range that was allocated and not yet freed.
void tenure_offsets_free(void* allocator, std::uint64_t offset, std::uint64_t handle);

/// Ends the allocator, with ranges still live or without.
void tenure_offsets_destroy(void* allocator);
}
