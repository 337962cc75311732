// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A range of addresses that is reserved once and committed from its start as it is needed: memory that grows and never
/// moves.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Threads   one at a time.
class growing_range {
public:
    constexpr growing_range() noexcept = default;
    ~growing_range() { release(); }
    growing_range(growing_range&& other) noexcept { swap(other); }
    growing_range& operator=(growing_range&& other) noexcept {
        swap(other);
        return *this;
    }

    /// Commits at least the first `bytes`, and at least doubles what is committed. The first call reserves `max_bytes`.
    /// Fresh memory reads as zero.
    /// Requires  `max_bytes` is the same in each call, at least `bytes`.
    /// Returns   false when the system refuses; nothing has changed then, except that the addresses may be reserved.
    [[nodiscard]] TENURE_API bool grow(std::size_t bytes, std::size_t max_bytes, std::size_t alignment) noexcept;

    /// Decommits the OS pages that are wholly between the two offsets. They stay usable, and read as zero.
    /// Returns   the bytes of these pages within what is committed.
    TENURE_API std::size_t decommit(std::size_t from, std::size_t to) noexcept;

    TENURE_API void release() noexcept;

    [[nodiscard]] std::uintptr_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::size_t committed_bytes() const noexcept { return committed_bytes_; }
    [[nodiscard]] std::size_t reserved_bytes() const noexcept { return reserved_bytes_; }
    [[nodiscard]] bool contains(const void* pointer) const noexcept {
        return address_of(pointer) - begin_ < committed_bytes_;
    }

private:
    friend struct pool_layout; // for debuggers: debug_layout.hpp
    void swap(growing_range& other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(committed_bytes_, other.committed_bytes_);
        std::swap(reserved_bytes_, other.reserved_bytes_);
    }

    std::uintptr_t begin_ = 0;
    std::size_t committed_bytes_ = 0;
    std::size_t reserved_bytes_ = 0;
};

}
