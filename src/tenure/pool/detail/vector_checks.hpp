// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The memory behind the last element of a stable_vector in checked builds: a guard follows the element, and the rest
/// is poisoned. Elements have no gaps between them.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/engine/sole_user.hpp>
#include <tenure/engine/tail_guard.hpp>

namespace tenure::inline TENURE_ABI::detail {

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
