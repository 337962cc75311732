// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Median, spread and ratio of a metric, whether it has samples or comes from a summary file.

#include "report/result/result.hpp"

namespace tenure::lab {

[[nodiscard]] summary value_of(const metric& measured);

/// To the baseline of the same round.
[[nodiscard]] summary ratio_of(const metric& measured, const metric& baseline);

}
