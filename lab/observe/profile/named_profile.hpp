// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A heap profile with the names of its functions: what every output shows.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tenure/base/profile_format.hpp>

#include "observe/profile/saved_profile.hpp"
#include "observe/symbols/symbols.hpp"

namespace tenure::lab {

/// A return address, with the functions that were inlined there: the innermost first.
struct profile_frame {
    std::uint64_t address = 0;
    std::vector<named_frame> functions;
};

/// One stack with one tag.
struct profile_stack {
    std::vector<profile_frame> frames; ///< innermost first, without the library's own
    std::string tag;                   ///< empty: none
    profile_format::estimate allocated{}, live{}, at_peak{};
    std::uint64_t oldest_ms = 0, median_age_ms = 0; ///< of the live samples; zero when there are none
    std::vector<std::uint32_t> sites{};             ///< of the saved profile: those that read the same
};

/// Samples by one of their properties.
struct profile_group {
    std::string name;
    profile_format::estimate live{};
};

struct named_profile {
    std::string program;
    std::string command; ///< the command line
    profile_format::file_header header{};
    std::vector<profile_mapping> mappings; ///< of code
    /// Files with another build ID than what ran: their functions have no names.
    std::vector<std::string> changed_files;
    std::vector<profile_stack> stacks; ///< the most live bytes first
    profile_format::estimate allocated{}, live{}, at_peak{};
    std::vector<profile_group> threads; ///< that allocated what is live, the most bytes first
    std::vector<profile_group> tags;    ///< likewise; empty when no block has a tag
    std::uint64_t heap_live_bytes = 0;  ///< what the heap itself counts: also blocks of before the profile
    bool is_calibrated = false;         ///< all estimates of what is live are corrected by its counts: calibration.hpp
    double unsampled_bytes = 0;         ///< the part of `live` that is in no stack, if calibrated
};

/// Names all frames. `names` may be used for several profiles.
[[nodiscard]] named_profile name_profile(const saved_profile& saved, symbols& names);

/// Which of a stack's estimates is asked for.
using profile_value = profile_format::estimate profile_stack::*;

/// The estimate for all stacks.
[[nodiscard]] const profile_format::estimate& total_of(const named_profile& profile, profile_value value);

/// What 95 of 100 estimates are off by at most: 1.96 standard errors.
[[nodiscard]] double error_of(const profile_format::estimate& of);

/// The functions of a stack, outermost first, with those that were inlined: "main", "load(std::string)", ….
[[nodiscard]] std::vector<std::string> path_of(const profile_stack& stack);

}
