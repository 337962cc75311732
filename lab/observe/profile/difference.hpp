// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What changed between two heap profiles, by call stack. Each is a saved profile or a file in pprof's format.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

struct compared_profile {
    named_profile profile;
    bool is_pprof = false;
    std::string error; ///< empty when all else is valid; otherwise a sentence that begins with the file's name

    [[nodiscard]] bool ok() const { return error.empty(); }
};

/// `names` may be used for several profiles.
[[nodiscard]] compared_profile load_compared(const std::string& path, symbols& names);

struct stack_change {
    const profile_stack* shown = nullptr; ///< of the later profile if it has the stack
    profile_format::estimate before{}, after{};
    double unseen = 0; ///< bytes that it may have in the profile in which it has no sample: see unseen_bytes()

    [[nodiscard]] double bytes() const { return after.bytes - before.bytes; }
    /// What 95 of 100 differences are off by at most. The profiles are independent samples, also for blocks that are in
    /// both.
    [[nodiscard]] double error() const;
};

/// What a stack without a sample may have all the same. A stack with B bytes has no sample with the probability
/// exp(-B / mean_bytes), which is 5 % for three times the mean: the rule of three. `other`: the same stack in the other
/// profile. Blocks that are larger than that would have a sample.
[[nodiscard]] double unseen_bytes(std::uint64_t mean_bytes, const profile_format::estimate& other);

/// Stacks are the same if their functions are: a rebuilt program has other addresses, and lines move. The largest
/// change comes first. The profiles must outlive the result.
[[nodiscard]] std::vector<stack_change> difference_of(const named_profile& before, const named_profile& after,
                                                      profile_value value);

[[nodiscard]] std::string difference_text(const named_profile& before, const named_profile& after, profile_value value,
                                          std::size_t stacks, std::size_t frames);

}
