// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// TempJob blocks outside chunks: allocated when no chunk is available, and under passthrough.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/lifetime/temp_job.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Where direct blocks come from: malloc under passthrough, the process heap when no chunk is available.
enum class direct_home : std::uint8_t { heap, malloc };

/// Header of a direct block, in front of the block's prefix.
struct direct_block {
    direct_block* next; ///< in its bucket
    void* memory;       ///< pointer that malloc or the heap returned
    std::size_t total_bytes;
    std::size_t bytes;   ///< requested size
    direct_home home;    ///< where it came from
    std::uint64_t frame; ///< frame it was allocated in
    bool reported;       ///< named in a leak report

    [[nodiscard]] std::uintptr_t bytes_at() const noexcept;
};

/// Allocates one block without listing it. Threads   any.
[[nodiscard]] void* allocate_direct(std::size_t bytes, std::size_t alignment, std::uint64_t word,
                                    direct_home home) noexcept;
/// Lists a block once its prefix is written. Walks see it from now on.
void list_direct(void* pointer) noexcept;
/// Requires  the pointer comes from allocate_direct(). Reports a block that is no longer listed.
void free_direct(void* pointer) noexcept;
/// Whether a listed block's bytes start here. Cost      O(1), with a lock.
[[nodiscard]] bool is_direct(std::uintptr_t bytes_at) noexcept;

/// Calls `visit(context, block)` for each block, under the lock.
void for_each_direct(void (*visit)(void* context, direct_block& block), void* context) noexcept;
/// The lock of the list, for fork handlers.
[[nodiscard]] platform::mutex& direct_mutex() noexcept;
/// Whether the pointer is inside a listed block. Cost      O(blocks), with a lock.
[[nodiscard]] bool owns_direct(const void* pointer) noexcept;

}
