// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which rounds of sweeps are urgent while memory is short.
///
/// A database sized to 92 % of its container, or a busy neighbour, makes memory short for ever. An urgent round returns
/// memory however short it has been free and empties every cache, so it must not come in every round: the first one
/// comes when memory becomes short, and the interval doubles, up to a minute, until one helps.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

class urgency {
public:
    static constexpr std::uint64_t least_rest_ns = 1'000'000'000, longest_rest_ns = 64 * least_rest_ns;
    /// An urgent round that returns less for good has not helped.
    static constexpr std::size_t useful_bytes = std::size_t{4} << 20;

    /// Whether the round is urgent. `taken_again_bytes` are those of all heaps that sweeps have returned and that were
    /// requested again soon: so far, in the life of the process.
    [[nodiscard]] bool begins(bool is_short, std::uint64_t now_ns, std::size_t taken_again_bytes) noexcept {
        if (now_ns < next_ns_) return false; // also if it has not been short for a moment
        if (!is_short) {
            if (now_ns - next_ns_ >= rest_ns_) rest_ns_ = 0;
            return false;
        }
        const std::size_t again = taken_again_bytes - std::min(taken_again_before_, taken_again_bytes);
        const bool has_helped = returned_bytes_ >= again + useful_bytes;
        rest_ns_ = has_helped ? least_rest_ns : std::clamp(2 * rest_ns_, least_rest_ns, longest_rest_ns);
        next_ns_ = now_ns + rest_ns_;
        return true;
    }
    /// The end of an urgent round.
    void ends(std::size_t returned_bytes, std::size_t taken_again_bytes) noexcept {
        returned_bytes_ = returned_bytes;
        taken_again_before_ = taken_again_bytes;
    }

private:
    std::uint64_t next_ns_ = 0; ///< no urgent round before
    std::uint64_t rest_ns_ = 0; ///< between the last two
    std::size_t returned_bytes_ = 0;
    std::size_t taken_again_before_ = 0;
};

}
