// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks for callers that run before the loader has relocated the drop-in: resolvers of indirect functions in
/// libraries that are relocated earlier.
///
/// Until then, the thread's pointer to its cache reads as nullptr (platform/early_pointer.hpp). Every call therefore
/// takes the slow path, which checks whether the drop-in is relocated. There is only one thread at that time.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// Allocates zeroed memory, which is never freed.
/// Returns   nullptr when out of memory.
[[nodiscard]] void* allocate_early(std::size_t bytes, std::size_t alignment) noexcept;

/// Whether allocate_early() returned the block.
[[nodiscard]] bool is_early(const void* block) noexcept;

/// The requested size of the block.
/// Requires  the block is early.
[[nodiscard]] std::size_t early_bytes(const void* block) noexcept;

/// Moves an early block to one of another size, early or not, depending on relocation.
/// Requires  the block is early.
[[nodiscard]] void* move_early(const void* block, std::size_t bytes) noexcept;

}
