// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whole numbers on the command line, within a range. Anything else is rejected with a message that names the range.

#include <cstdint>

#include <CLI/CLI.hpp>

namespace tenure::lab {

/// Accepts digits with an optional minus sign, from `lowest` to `highest`. For transform(): the option receives the
/// number without leading zeros, which CLI11 would read as octal. The error message states the valid range.
[[nodiscard]] CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest);

}
