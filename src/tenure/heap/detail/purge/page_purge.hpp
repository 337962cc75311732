// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Returns what is free inside a page in use, and records it, so that it is returned once.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/small/heap_segment.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Decommits the OS pages that lie wholly in free blocks and were touched since they were last purged. `sweep` is the
/// number of the sweep that does it; trim() passes one of the past, so that later requests do not count as thrash.
/// Requires  the lock of the page's owner.
/// Returns   the number of bytes.
/// Cost      O(blocks), and a system call per run.
std::size_t purge_free_units(small_page& page, heap_memory& memory, std::uint16_t sweep) noexcept;

/// Call it when the blocks from `begin` to `end` are handed out, if `page.has_purged`: counts what the program touches
/// again within the purge delay.
/// Requires  the lock of the page's owner.
TENURE_COLD void forget_purged_units(small_page& page, heap_memory& memory, std::uintptr_t begin,
                                     std::uintptr_t end) noexcept;

/// The number of purged bytes in a page.
/// Requires  the lock of the page's owner, or that nobody uses the page.
[[nodiscard]] std::size_t purged_bytes_of(const small_page& page, std::size_t segment_bytes) noexcept;

}
