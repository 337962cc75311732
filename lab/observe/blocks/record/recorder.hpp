// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Records the live blocks of the process's malloc, whichever that is: all addresses, and the call stacks of a sample.
/// The files that it saves are those of a heap profile (base/profile_format.hpp).

#include <cstddef>

namespace tenure::lab::blocks {

// Threads   any. They preserve errno.

/// A block was allocated; `block` may be nullptr. A block that is known already is not counted again: operator new
/// calls malloc.
void note_block(const void* block, std::size_t asked_bytes) noexcept;

/// A block is about to be freed. Returns   its size; zero if it was not known.
std::size_t forget_block(const void* block) noexcept;

/// The call was refused, so the block is still in use. It is not counted as another allocation; a record of it has
/// ended, though. `bytes`: what forget_block() has returned.
void restore_block(const void* block, std::size_t bytes) noexcept;

/// It was freed. `bytes`: what forget_block() has returned.
void note_freed(const void* block, std::size_t bytes) noexcept;
/// It was resized at its address. `bytes_before`: what forget_block() has returned.
void note_resized(const void* block, std::size_t bytes_before) noexcept;

}
