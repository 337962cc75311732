// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The blocks of malloc(0) in checked builds: distinct addresses that fault when they are accessed.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Addresses at multiples of 16 in a range of 16 MiB without memory, which is reserved at the first request.
///
/// Threads   any; one lock per call.
class zero_blocks {
public:
    static constexpr std::size_t range_bytes = std::size_t{16} << 20;
    static constexpr std::size_t block_count = range_bytes / default_alignment;

    constexpr zero_blocks() noexcept = default;
    ~zero_blocks();
    zero_blocks(const zero_blocks&) = delete;
    zero_blocks& operator=(const zero_blocks&) = delete;

    /// Returns   nullptr if all addresses are in use, or out of memory: use an ordinary block then.
    [[nodiscard]] void* allocate() noexcept;
    /// Returns   false if no block in use is there.
    /// Requires  contains(block).
    [[nodiscard]] bool deallocate(const void* block) noexcept;
    /// Whether a block in use is there.
    /// Requires  contains(block).
    [[nodiscard]] bool is_live(const void* block) const noexcept;

    [[nodiscard]] bool contains(const void* pointer) const noexcept {
        const std::uintptr_t begin = begin_.load(memory_order::acquire);
        return begin != 0 && address_of(pointer) - begin < range_bytes;
    }
    [[nodiscard]] std::size_t live_count() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

private:
    [[nodiscard]] bool reserve() noexcept;
    [[nodiscard]] std::size_t index_of(const void* block) const noexcept {
        return (address_of(block) - begin_.load(memory_order::relaxed)) / default_alignment;
    }

    mutable platform::mutex mutex_;   ///< guards everything below
    atomic<std::uintptr_t> begin_{0}; // released once the range is reserved; contains() acquires, then relaxed
    bit_word* used_ = nullptr;        ///< one bit per block
    std::size_t next_ = 0;            ///< word at which the search begins, so that addresses are reused late
    std::size_t live_count_ = 0;
};

}
