// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A heap profile as text for a terminal: the stacks that hold most, with the error of each estimate.

#include <cstddef>
#include <string>

#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

struct profile_choice {
    std::size_t stacks = 10; ///< shown
    std::size_t frames = 6;  ///< shown of each
    profile_value value = &profile_stack::live;
    std::size_t width = 100;
};

[[nodiscard]] std::string to_text(const named_profile& profile, const profile_choice& choice);

/// The functions of a stack, the innermost first, a line each.
[[nodiscard]] std::string frames_text(const profile_stack& stack, std::size_t most, std::size_t width);

/// "live", "allocated", "live at the peak".
[[nodiscard]] const char* word_of(profile_value value);

/// "1.50 GiB", "12.3 MiB", "−512 B".
[[nodiscard]] std::string size_text(double bytes);
/// "12.3 MiB ± 1.20 MiB"; "12.3 MiB" if the estimate has no error.
[[nodiscard]] std::string estimate_text(const profile_format::estimate& of);
/// "1 block", "40k blocks".
[[nodiscard]] std::string blocks_text(double blocks);
/// The line that ends a list: "… and 1 more stack".
[[nodiscard]] std::string more_text(std::size_t stacks);
/// "3 h 5 min", "12.5 s".
[[nodiscard]] std::string age_text(std::uint64_t ms);

}
