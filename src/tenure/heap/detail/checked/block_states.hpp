// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The state of each small block in checked builds: a byte in its segment's head.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// The call that a block comes from and must be freed by. `any` matches every form: the calls of a heap object.
enum class block_form : std::uint8_t { any, c, scalar_new, array_new };

/// The size of a free without a size.
constexpr std::size_t unknown_size = SIZE_MAX;

// A block's state byte. The thread that allocates the block writes it; the thread that frees the block exchanges it, so
// of two frees one finds it freed. The blocks of a new page are fresh.
// Released and acquired by the exchange of a free; who allocates the block is the only thread that has it.
using state_byte = atomic<std::uint8_t>;
constexpr std::uint8_t state_fresh = 0;  ///< never left its page: contents unknown
constexpr std::uint8_t state_marked = 1; ///< left its page, never allocated: has a canary
constexpr std::uint8_t state_freed = 2;  ///< in a quarantine, a cache or its page, with the contents that it had
constexpr std::uint8_t state_filled = 3; ///< freed and filled
constexpr std::uint8_t state_live = 4;   ///< plus the block's form

/// State bytes for each slice: as many as blocks of 32 bytes, the smallest with guard bytes.
constexpr std::size_t states_per_slice = checks::caller ? 1024 : 0;
constexpr std::size_t first_checked_class = 2; ///< the smaller ones have no room for guard bytes

[[nodiscard]] constexpr std::uint8_t live_state(block_form form) noexcept {
    return static_cast<std::uint8_t>(state_live | static_cast<std::uint8_t>(form));
}
[[nodiscard]] constexpr bool is_live(std::uint8_t state) noexcept { return state >= state_live; }
[[nodiscard]] constexpr block_form form_of(std::uint8_t state) noexcept {
    return static_cast<block_form>(state & (state_live - 1));
}
/// Whether a block of the first form may be freed by a call of the second.
[[nodiscard]] constexpr bool matches(block_form allocated, block_form freed) noexcept {
    return allocated == freed || allocated == block_form::any || freed == block_form::any;
}

/// For reports: the call that allocates blocks of a form.
[[nodiscard]] constexpr std::string_view name_of_allocation(block_form form) noexcept {
    if (form == block_form::c) return "malloc";
    if (form == block_form::scalar_new) return "new";
    return form == block_form::array_new ? "new[]" : "allocate()";
}
/// For reports: the call that frees blocks of a form.
[[nodiscard]] constexpr std::string_view name_of_free(block_form form) noexcept {
    if (form == block_form::c) return "free";
    if (form == block_form::scalar_new) return "delete";
    return form == block_form::array_new ? "delete[]" : "deallocate()";
}

}
