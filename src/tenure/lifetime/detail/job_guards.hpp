// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checked builds: what surrounds each block of TempJob, and the search for the block that was overrun.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Writes a block's prefix, except its word. Makes the prefix, the bytes and the tail accessible.
void open_job_guards(std::uintptr_t begin, std::size_t bytes) noexcept;

/// Completes the prefix with the allocating stack, writes the tail guard, and poisons both. The stack starts at
/// `caller`, the code that called the library: the number of library frames before it depends on the compiler.
void close_job_guards(void* block, std::size_t bytes, void* caller) noexcept;

/// Makes a freed block's surroundings accessible, before its memory goes back to another allocator.
void drop_job_guards(void* block, std::size_t bytes) noexcept;

/// Looks at a block that is to be freed. Reports a pointer that is not a block, and a block that was overrun: this one,
/// or the one in front of it, whose overrun reached this one.
/// Returns   whether the block can be freed.
[[nodiscard]] bool check_job_block(void* block) noexcept;
/// The same; reports a size of the block that is not in the range, too.
[[nodiscard]] bool check_job_block(void* block, std::size_t least_bytes, std::size_t max_bytes) noexcept;

}
