// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Sizes in bytes and durations in nanoseconds.

#include <cstddef>
#include <cstdint>

namespace support {

constexpr std::size_t kibibyte = 1024;
constexpr std::size_t mebibyte = 1024 * kibibyte;
constexpr std::size_t gibibyte = 1024 * mebibyte;

constexpr std::uint64_t millisecond = 1'000'000;
constexpr std::uint64_t second = 1000 * millisecond;

}
