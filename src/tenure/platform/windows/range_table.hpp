// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// range_table: reservations whose bytes are counted, found by their start.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

struct counted_range {
    std::uintptr_t begin = 0; ///< zero: an empty place
    std::size_t bytes = 0;
    std::size_t used_bytes = 0;
};

/// A hash table in pages of the system. Its lock is one of the system, because the library's own may report misuse.
///
/// Threads   any.
class range_table {
public:
    constexpr range_table() noexcept = default;
    range_table(const range_table&) = delete;
    range_table& operator=(const range_table&) = delete;

    /// Returns   false when out of memory.
    [[nodiscard]] bool put(const counted_range& added) noexcept;

    /// Calls `change` for the range that begins there. Returns   what it returned; false if there is none.
    template<class Change>
    [[nodiscard]] bool change(std::uintptr_t begin, Change&& change) noexcept {
        const exclusive lock(lock_);
        counted_range* const found = find(begin);
        return found != nullptr && change(*found);
    }
    /// The same, and removes the range if that returned false.
    template<class Change>
    [[nodiscard]] bool change_or_remove(std::uintptr_t begin, Change&& change) noexcept {
        const exclusive lock(lock_);
        counted_range* const found = find(begin);
        if (found == nullptr || change(*found)) return found != nullptr;
        remove(*found);
        return false;
    }

private:
    class exclusive {
    public:
        explicit exclusive(SRWLOCK& lock) noexcept : lock_(lock) { ::AcquireSRWLockExclusive(&lock_); }
        ~exclusive() { ::ReleaseSRWLockExclusive(&lock_); }
        exclusive(const exclusive&) = delete;
        exclusive& operator=(const exclusive&) = delete;

    private:
        SRWLOCK& lock_;
    };

    [[nodiscard]] std::size_t place_of(std::uintptr_t begin) const noexcept;
    [[nodiscard]] counted_range* find(std::uintptr_t begin) noexcept;
    void insert(const counted_range& added) noexcept;
    void remove(counted_range& gone) noexcept;
    [[nodiscard]] bool grow() noexcept;

    SRWLOCK lock_ = SRWLOCK_INIT;
    counted_range* ranges_ = nullptr;
    std::size_t capacity_ = 0; ///< a power of two
    std::size_t count_ = 0;
};

}
