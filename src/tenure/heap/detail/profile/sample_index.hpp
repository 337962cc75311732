// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which live blocks are in the heap profile: from the address to a number, found without a lock.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// A hash table with linear probing. A removal moves entries back, so a look-up that meets a change looks again. When
/// the table grows, the smaller one stays mapped for look-ups that are reading it: all of them take less memory than
/// the last.
///
/// Threads   contains(): any, while one other thread changes the table. All others: one at a time.
class TENURE_API sample_index {
public:
    constexpr sample_index() noexcept = default;
    ~sample_index() = default; // lives as long as the process
    sample_index(const sample_index&) = delete;
    sample_index& operator=(const sample_index&) = delete;

    /// Whether the block is in the table. Requires  the caller owns the block, so that nobody adds or removes it.
    /// Returns   true also if the table changes so often, or a signal handler asks in the middle of a change, that no
    ///           look-up succeeds: get() knows. Cost      some nanoseconds.
    [[nodiscard]] bool contains(const void* block) const noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return count_.load(memory_order::relaxed); }

    /// Requires  `value` is less than 2^32 - 1.
    /// Returns   false when out of memory. Replaces the value of a block that is in the table.
    [[nodiscard]] bool set(const void* block, std::uint32_t value) noexcept;
    static constexpr std::uint32_t none = UINT32_MAX;
    /// Returns   the value; `none` if the block is not in the table.
    [[nodiscard]] std::uint32_t get(const void* block) const noexcept;
    /// Removes the block. Returns   its value, or `none`.
    std::uint32_t remove(const void* block) noexcept;
    void clear() noexcept;

private:
    struct entry {
        // Released when it changes, acquired by contains(), which then reads that changes_ has changed.
        atomic<std::uintptr_t> address; ///< zero: free
        std::uint32_t value;
    };
    struct table {
        std::size_t mask; ///< number of entries less one
        entry* entries() noexcept { return reinterpret_cast<entry*>(this + 1); }
    };

    [[nodiscard]] static std::size_t place_of(std::uintptr_t address) noexcept;
    [[nodiscard]] std::size_t find(table& in, std::uintptr_t address) const noexcept;
    [[nodiscard]] bool grow() noexcept;
    void begin_change() noexcept;
    void end_change() noexcept;

    // A sequence lock: the table is released whole, changes_ is released at the end of a removal, and contains()
    // acquires both. Under the lock, and for the count, relaxed.
    atomic<table*> table_{nullptr};
    atomic<std::size_t> count_{0};
    atomic<std::uint64_t> changes_{0}; ///< odd while an entry is being removed
};

}
