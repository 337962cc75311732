// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Numbers on the command line: whole, in a range, and nothing else, which the answer says.

#include <cstdint>

#include <CLI/CLI.hpp>

namespace tenure::lab {

/// Accepts digits with a minus or none before them, from `lowest` to `highest`. For transform(): the option gets the
/// number without zeros in front, which CLI11 would take for octal. The refusal says what is valid.
[[nodiscard]] CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest);

}
