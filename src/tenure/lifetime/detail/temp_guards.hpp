// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checked builds: what surrounds each block of Temp and of frame_memory, and the walk that finds the block that was
/// overrun.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/engine/tail_guard.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Layout of the memory. Everything starts at a multiple of 16:
//
//   release:  | bytes, rounded up ... | gap of a large alignment | bytes ... |
//   checked:  | head 16 | bytes ... | tail guard | gap: its head 16 ... | head 16 | bytes ... | tail guard |
//
// A head holds a length, and a mark made of its address and the length. A checked scope begins with a gap of 16 bytes:
// a block from before the scope that is freed inside it is then not the newest one, so the scope's start stays the
// start of a head. So the memory from a scope's, a chunk's or the range's start to the cursor can be walked.

struct temp_head {
    std::uint64_t mark;
    std::uint64_t bytes; ///< of the block as requested, at least 1; of a gap with its head
};
constexpr std::size_t temp_head_bytes = checks::caller ? sizeof(temp_head) : 0;

/// End of the tail guard of a block. Requires  `bytes` is not zero.
[[nodiscard]] constexpr std::uintptr_t temp_block_end(std::uintptr_t block, std::size_t bytes) noexcept {
    return align_up(block + bytes, default_alignment) + tail_guard_bytes;
}

/// Writes the head and the tail guard of a block, and poisons them; makes the block's bytes accessible.
void guard_temp_block(std::uintptr_t block, std::size_t bytes) noexcept;

/// Makes the bytes from `begin` to `end` a gap. Requires  both are multiples of 16.
void guard_temp_gap(std::uintptr_t begin, std::uintptr_t end) noexcept;

enum class temp_finding : std::uint8_t { whole, no_block, overrun };

/// Looks at one block. Sets `bytes` if it is whole or was overrun.
/// Requires  `block` is in memory of this layout, before the cursor.
[[nodiscard]] temp_finding look_at_temp_block(std::uintptr_t block, std::size_t& bytes) noexcept;

/// Looks at all blocks between two positions, and reports the first one that was overrun or whose head was overwritten.
void check_temp_blocks(std::uintptr_t from, std::uintptr_t cursor, std::string_view part = "Temp") noexcept;

/// Reports a block that was overrun.
TENURE_COLD void report_temp_overrun(std::uintptr_t block, std::size_t bytes, std::string_view part = "Temp") noexcept;

}
