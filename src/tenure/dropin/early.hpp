// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks for whoever calls before the loader has relocated the drop-in: the resolvers of indirect functions of
/// libraries that it comes to before. Private to this room.
///
/// Until then the thread's pointer to its cache is read where the thread's control block begins, whose unused part lies
/// where the caches' counts are looked for (thread_cache.hpp), so that requests of up to 14 KiB, and past 32, find
/// their cache empty and come to the slow path, which asks whether it may go on. There is one thread.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// Zeroed memory. It is never given back. Null when there is none.
[[nodiscard]] void* allocate_early(std::size_t bytes, std::size_t alignment) noexcept;

/// Whether the block came from there.
[[nodiscard]] bool is_early(const void* block) noexcept;

/// Bytes that were asked for. Requires  the block is early.
[[nodiscard]] std::size_t early_bytes(const void* block) noexcept;

/// A larger or smaller block with its contents, early or not, as the time is. Requires  the block is early.
[[nodiscard]] void* move_early(const void* block, std::size_t bytes) noexcept;

}
