// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/caller.hpp>

#include <limits>

#include <tenure/platform/posix/unwind/unwind_rules.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

#if defined(__x86_64__)
constexpr std::size_t frame_pointer_register = 6;
#else
constexpr std::size_t frame_pointer_register = 29;
#endif

template<class Small>
[[nodiscard]] bool fit(std::int64_t value, Small& to) noexcept {
    if (value < std::numeric_limits<Small>::min() || value > std::numeric_limits<Small>::max()) return false;
    to = static_cast<Small>(value);
    return true;
}

}

bool find_caller_rule(std::uintptr_t position, caller_rule& found) noexcept {
    if (!has_caller_walk) return false;
    unwind_function function;
    // A call may be the last instruction of its function.
    if (!find_unwind_rules(position - 1, function) || function.is_signal_frame) return false;
    const unwind_row& row = function.row;
    const bool is_from_stack = row.cfa_register == unwind_stack_pointer;
    found.is_from_frame_pointer = row.cfa_register == frame_pointer_register;
    if (row.cfa_expression != nullptr || (!is_from_stack && !found.is_from_frame_pointer)) return false;
    if (row.rules[function.return_column] != unwind_rule::at_offset) return false;
    found.frame_pointer_offset = 0;
    switch (row.rules[frame_pointer_register]) {
    case unwind_rule::same: break;
    case unwind_rule::at_offset:
        if (!fit(row.values[frame_pointer_register], found.frame_pointer_offset)) return false;
        break;
    default: return false;
    }
    if (!fit(row.cfa_offset, found.frame_bytes)) return false;
    if (!fit(row.values[function.return_column], found.return_offset)) return false;
    // What is read lies within the frame. If that is found from the frame pointer, it begins where that points to.
    const std::int32_t begin = is_from_stack ? -found.frame_bytes : -16;
    const auto is_inside = [begin](std::int16_t offset) { return offset <= -8 && offset >= begin; };
    return is_inside(found.return_offset) && (found.frame_pointer_offset == 0 || is_inside(found.frame_pointer_offset));
}

}
