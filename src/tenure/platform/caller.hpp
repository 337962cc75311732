// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The callers of a function, one after another, in a few loads each: for positions in code whose rules were looked up
/// before. stack_walk.cpp is for all others.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// A function that has called, as it will continue.
struct caller {
    std::uintptr_t position; ///< return address
    std::uintptr_t stack_pointer;
    std::uintptr_t frame_pointer; ///< the register, whatever the function uses it for
};

/// Where a function's own caller is.
struct caller_rule {
    std::int32_t frame_bytes;          ///< from `stack_pointer` or `frame_pointer` to the end of the function's frame
    std::int16_t return_offset;        ///< from there to the return address
    std::int16_t frame_pointer_offset; ///< from there to the caller's frame pointer; zero: it is unchanged
    bool is_from_frame_pointer;
    /// The code may be replaced by other code, so that the rule no longer fits. The frame is then read only if it is in
    /// the OS page of its callee's return address, which is there in any case.
    bool is_within_page = false;
};

/// Larger frames are not followed.
constexpr std::int32_t max_caller_frame_bytes = 16 * 1024;

/// The rule for a return address, from the unwind tables.
/// Returns   false if there is no table, or the rule is not as simple.
/// Cost      about 0.3 us. Threads   any; before glibc 2.35, with the loader's lock.
[[nodiscard]] bool find_caller_rule(std::uintptr_t position, caller_rule& found) noexcept;

/// The caller of the function that this is inlined into.
#if defined(_WIN32)
// Functions have no frame pointer there that leads to their caller's.
constexpr bool has_caller_walk = false;
[[nodiscard]] TENURE_ALWAYS_INLINE caller caller_of_this_function() noexcept {
    return {reinterpret_cast<std::uintptr_t>(TENURE_RETURN_ADDRESS()), 0, 0};
}
#elif defined(__x86_64__)
constexpr bool has_caller_walk = true;
[[nodiscard]] TENURE_ALWAYS_INLINE caller caller_of_this_function() noexcept {
    const auto* const frame = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
    return {frame[1], reinterpret_cast<std::uintptr_t>(frame + 2), frame[0]};
}
#else
constexpr bool has_caller_walk = false;
// Without a stack pointer, move_outwards() stops at once: only the immediate caller is known.
[[nodiscard]] TENURE_ALWAYS_INLINE caller caller_of_this_function() noexcept {
    return {reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), 0, 0};
}
#endif

/// Replaces a function by its caller. Reads the function's frame.
/// Requires  the rule is that of the function's position; or is_within_page.
/// Returns   false if the frame is larger than any that is followed, or not within a page.
[[nodiscard]] TENURE_ALWAYS_INLINE bool move_outwards(caller& of, const caller_rule& rule) noexcept {
    const std::uintptr_t base = rule.is_from_frame_pointer ? of.frame_pointer : of.stack_pointer;
    const std::uintptr_t end = base + static_cast<std::uintptr_t>(rule.frame_bytes);
    if (end - of.stack_pointer - 1 >= std::uintptr_t{max_caller_frame_bytes} || of.stack_pointer == 0) return false;
    constexpr std::uintptr_t least_page_bytes = 4096;
    if (rule.is_within_page && (end - 1) / least_page_bytes != (of.stack_pointer - 1) / least_page_bytes) return false;
    const auto value_at = [end](std::int16_t offset) {
        std::uintptr_t value;
        std::memcpy(&value, reinterpret_cast<const char*>(end) + offset, sizeof value);
        return value;
    };
    if (rule.frame_pointer_offset != 0) of.frame_pointer = value_at(rule.frame_pointer_offset);
    of.position = value_at(rule.return_offset);
    of.stack_pointer = end;
    return true;
}

}
