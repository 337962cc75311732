// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks under an owner tag, which have pages of their own (heap/detail/heap_tags.cpp): the slow paths of typed
/// allocation and of the advised drop-in. As elsewhere in the drop-in, errno is preserved on success and ENOMEM on
/// failure.

#include <cstddef>
#include <cstdint>

#include <tenure/heap/heap.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// Starts the heap's background thread, if it is wanted, for a call from `caller`: start_background_for().
/// Requires  `tag` is not zero; `alignment` is a power of two.
[[nodiscard]] void* allocate_tagged(std::uint16_t tag, std::size_t bytes, std::size_t alignment, detail::fill how,
                                    const void* caller) noexcept;

/// Resizes a block of any tag. If it moves, it moves to a page of `tag`.
/// Requires  neither `block` nor `bytes` is zero; the block is not an early one.
[[nodiscard]] void* reallocate_tagged(std::uint16_t tag, void* block, std::size_t bytes, const void* caller) noexcept;

}
