// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A thread's cache of a shared pool.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Free blocks of one shared pool in one thread. Only that thread moves blocks; others read the count.
struct pool_cache {
    static constexpr std::uint32_t max_blocks = 256;
    static constexpr std::size_t max_bytes = std::size_t{128} * 1024; ///< unless one block is larger

    explicit pool_cache(std::uint32_t room) noexcept : capacity(room) {}

    atomic<std::uint32_t> count{0}; // relaxed: its thread writes it, others read it for statistics
    const std::uint32_t capacity;   ///< the same in every cache of a pool
    pool_cache* next = nullptr;     ///< in the pool's list
    pool_cache* previous = nullptr;
    void* blocks[max_blocks];
};

[[nodiscard]] pool_cache* make_cache(std::uint32_t capacity) noexcept;
void free_cache(pool_cache* cache) noexcept;

}
