// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// memset and memcmp of the C library, as programs use them to write and compare.

#include "bench/experiments/large/large_memory.hpp"

#include <cstring>

#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

void write_whole(void* block, std::size_t bytes, unsigned char value) {
    std::memset(block, value, bytes);
    escape(block);
}

bool holds_whole(const void* block, std::size_t bytes, unsigned char value) {
    escape(block);
    const auto* const first = static_cast<const unsigned char*>(block);
    return bytes == 0 || (*first == value && std::memcmp(first, first + 1, bytes - 1) == 0); // each equals the next
}

}
