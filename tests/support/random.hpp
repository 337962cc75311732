// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Random numbers for tests. Each test prints its seed; set TENURE_TEST_SEED to repeat a run.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace support {

/// splitmix64: good enough, and the same on every platform.
class random {
public:
    explicit random(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept {
        std::uint64_t mixed = state_ += 0x9E37'79B9'7F4A'7C15;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58'476D'1CE4'E5B9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D0'49BB'1331'11EB;
        return mixed ^ (mixed >> 31);
    }
    /// Requires  `limit` is not zero.
    std::size_t below(std::size_t limit) noexcept { return static_cast<std::size_t>(next() % limit); }
    std::size_t between(std::size_t lowest, std::size_t highest) noexcept {
        return lowest + below(highest - lowest + 1);
    }
    bool one_in(std::size_t count) noexcept { return below(count) == 0; }

private:
    std::uint64_t state_;
};

inline std::uint64_t new_seed() {
    if (const char* const given = std::getenv("TENURE_TEST_SEED"); given != nullptr)
        return std::strtoull(given, nullptr, 0);
    return std::random_device{}();
}

}
