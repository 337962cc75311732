// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writing large blocks to the last byte, and reading them back.

#include <cstddef>

namespace tenure::lab {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Writes every byte. Requires  `value` is not zero: GCC makes one calloc of a malloc and a memset to zero, and fresh
/// pages would never be written.
void write_whole(void* block, std::size_t bytes, unsigned char value);

/// Whether every byte holds the value.
[[nodiscard]] bool holds_whole(const void* block, std::size_t bytes, unsigned char value);

}
