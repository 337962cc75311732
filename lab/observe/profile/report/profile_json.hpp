// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A heap profile as JSON, for scripts.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

/// An object with `program`, `command`, `process`, `mean_bytes`, `started_ms`, `saved_ms`, `peak_ms`, `lost_samples`;
/// the sums `live`, `at_peak` and `allocated`; and `stacks`, the most live bytes first. An estimate is an object of
/// `samples`, `blocks`, `bytes` and `error_bytes`, which 95 of 100 estimates are off by at most.
[[nodiscard]] std::string to_json(const named_profile& profile);

[[nodiscard]] nlohmann::json json_of_estimate(const profile_format::estimate& of);
/// The functions of a stack, the innermost first.
[[nodiscard]] nlohmann::json json_of_frames(const profile_stack& stack);

}
