// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Random numbers and orders that are the same on every machine.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tenure::lab {

/// A small generator with the same numbers everywhere (splitmix64), so that a seed means the same order of frees for
/// every allocator and every standard library.
class random_source {
public:
    explicit constexpr random_source(std::uint64_t seed) : state_(seed) {}
    constexpr std::uint64_t operator()() {
        std::uint64_t mixed = (state_ += 0x9E3779B97F4A7C15u);
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
        return mixed ^ (mixed >> 31);
    }
    /// A number below `bound`, by multiplication. The bias is far below what a measurement could detect.
    constexpr std::size_t below(std::size_t bound) {
        return static_cast<std::size_t>(((*this)() >> 32) * std::uint64_t{bound} >> 32);
    }

private:
    std::uint64_t state_;
};

template<class T>
void shuffle(std::span<T> values, random_source& random) {
    for (std::size_t left = values.size(); left > 1; --left) std::swap(values[left - 1], values[random.below(left)]);
}

}
