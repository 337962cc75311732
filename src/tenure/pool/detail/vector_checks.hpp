// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What stable_vectors of all types share, also those of C. In checked builds a guard follows the last element, and the
/// memory behind it is poisoned; elements have no gaps between them.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/engine/growing_range.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/engine/sole_user.hpp>
#include <tenure/engine/tail_guard.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// The members of a stable_vector of any type, which the report at the end of the program reads.
struct vector_parts {
    explicit vector_parts(std::size_t max_count) noexcept : max_count_(max_count) {}
    ~vector_parts() { remove_holder(this); }
    vector_parts(const vector_parts&) = delete;
    vector_parts& operator=(const vector_parts&) = delete;

    /// Makes the vector part of that report; again when its maximum changes. `type` is as of signature_of(), or
    /// nullptr.
    TENURE_API void enlist(std::size_t element_bytes, const char* type) const noexcept;
    /// Commits memory for `count` elements in all, which are always of this size.
    /// Returns   false when `count` is above the maximum or out of memory; nothing has changed then.
    [[nodiscard]] TENURE_API bool commit(std::size_t count, std::size_t element_bytes, std::size_t alignment) noexcept;

    growing_range range_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::size_t max_count_;
};

/// What a report of two threads in one stable_vector says.
extern TENURE_API const sole_use one_thread_in_vector;

/// `end` is the end of the elements, here and below, and `begin` their beginning. Reports a write past the end.
TENURE_API void check_vector_tail(std::uintptr_t begin, std::uintptr_t end) noexcept;
/// Makes `bytes` behind the end usable for elements.
TENURE_API void open_vector_tail(std::uintptr_t end, std::size_t bytes) noexcept;
/// Sets the guard behind the last element, once elements were constructed or not.
TENURE_API void close_vector_tail(std::uintptr_t end) noexcept;
/// Takes `bytes` of destroyed elements behind the new end back, and sets the guard.
TENURE_API void shorten_vector(std::uintptr_t end, std::size_t bytes) noexcept;
/// Poisons memory that was committed for later elements.
TENURE_API void poison_vector_rest(std::uintptr_t begin, std::size_t bytes) noexcept;

}
