// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// TempJob blocks that are not in a chunk: what chunks refused, and everything under passthrough. Private to this room.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/lifetime/temp_job.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Where blocks by themselves come from: malloc under passthrough, the process heap when chunks are refused.
enum class direct_home : std::uint8_t { heap, malloc };

/// A block by itself, in front of its prefix.
struct direct_block {
    direct_block* next; ///< in its bucket
    void* memory;       ///< as malloc or the heap gave it
    std::size_t total_bytes;
    std::size_t bytes;   ///< as asked for
    direct_home home;    ///< where it came from
    std::uint64_t frame; ///< of its allocation
    bool reported;       ///< named in a leak report

    [[nodiscard]] std::uintptr_t bytes_at() const noexcept;
};

/// Takes one block. It is not yet listed. Threads   any.
[[nodiscard]] void* allocate_direct(std::size_t bytes, std::size_t alignment, std::uint64_t word,
                                    direct_home home) noexcept;
/// Lists a block, once its prefix is written: walks see it from now on.
void list_direct(void* pointer) noexcept;
/// Requires  the pointer is one of allocate_direct()'s. Reports one that is not listed any more.
void free_direct(void* pointer) noexcept;
/// Whether a listed block's bytes begin here. Cost      O(1), with a lock.
[[nodiscard]] bool is_direct(std::uintptr_t bytes_at) noexcept;

/// Calls `visit(context, block)` for each, under the lock.
void for_each_direct(void (*visit)(void* context, direct_block& block), void* context) noexcept;
/// The lock of the list: for forks.
[[nodiscard]] platform::mutex& direct_mutex() noexcept;
/// Whether the pointer is inside a listed block. Cost      O(blocks), with a lock.
[[nodiscard]] bool owns_direct(const void* pointer) noexcept;

}
