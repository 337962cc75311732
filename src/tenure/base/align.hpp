// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Alignment arithmetic on sizes and addresses. All alignments are powers of two.

#include <bit>
#include <cstddef>
#include <cstdint>

#include <tenure/base/compiler.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// The alignment of an allocation that states none: enough for every fundamental type (16 on x86-64).
constexpr std::size_t default_alignment = alignof(std::max_align_t);

/// Avoids std::has_single_bit, which counts bits: on x86-64 without POPCNT that calls the compiler's runtime library.
[[nodiscard]] constexpr bool is_power_of_two(std::size_t value) noexcept {
    return value != 0 && (value & (value - 1)) == 0;
}

/// Requires  `alignment` is a power of two; `value` + `alignment` does not overflow.
[[nodiscard]] constexpr std::uintptr_t align_up(std::uintptr_t value, std::size_t alignment) noexcept {
    return (value + alignment - 1) & ~(static_cast<std::uintptr_t>(alignment) - 1);
}

/// Requires  `alignment` is a power of two.
[[nodiscard]] constexpr std::uintptr_t align_down(std::uintptr_t value, std::size_t alignment) noexcept {
    return value & ~(static_cast<std::uintptr_t>(alignment) - 1);
}

[[nodiscard]] inline std::uintptr_t address_of(const void* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

[[nodiscard]] inline void* pointer_at(std::uintptr_t address) noexcept {
    return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr): the one place that converts addresses
}

[[nodiscard]] inline bool is_aligned(const void* pointer, std::size_t alignment) noexcept {
    return (address_of(pointer) & (alignment - 1)) == 0;
}

/// Prefetches the cache line of `address` for writing. A hint; any address is allowed.
// Always inline: GCC 12 removes calls of a function whose only effect is a prefetch.
TENURE_ALWAYS_INLINE void prefetch_for_write(const void* address) noexcept { detail::prefetch_line(address); }

}
