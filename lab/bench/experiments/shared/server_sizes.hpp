// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The sizes of a server's blocks: mostly small, some buffers, a few large ones.

#include <cstdint>

#include "bench/harness/random_source.hpp"

namespace tenure::lab {

/// At scale 1, of 100 blocks 90 have 16 to 128 bytes, 9 up to 2 KiB and one up to 64 KiB; all grow with the scale.
[[nodiscard]] inline std::uint32_t server_bytes(random_source& random, double scale) {
    const auto between = [&](double low, double high) {
        const auto begin = static_cast<std::size_t>(low), room = static_cast<std::size_t>(high) - begin;
        return static_cast<std::uint32_t>(begin + random.below(room + 1));
    };
    const std::size_t kind = random.below(100);
    if (kind < 90) return between(16, 128 * scale);
    if (kind < 99) return between(128 * scale, 2048 * scale);
    return between(2048 * scale, 65536 * scale);
}

/// The mean of the above.
[[nodiscard]] constexpr std::size_t mean_server_bytes(double scale) { return static_cast<std::size_t>(501 * scale); }

}
