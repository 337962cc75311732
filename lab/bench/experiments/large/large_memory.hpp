// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes large blocks to the last byte and reads them back.

#include <cstddef>

namespace tenure::lab {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Writes every byte. Requires  `value` is not zero: GCC turns a malloc followed by a memset to zero into one calloc,
/// and fresh pages would never be written.
void write_whole(void* block, std::size_t bytes, unsigned char value);

/// Whether every byte holds the value.
[[nodiscard]] bool holds_whole(const void* block, std::size_t bytes, unsigned char value);

}
