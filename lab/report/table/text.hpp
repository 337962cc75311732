// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The tables for a terminal: aligned columns, as many per table as the width permits.

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/analysis/compare.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

/// Whether escape sequences may be written. Colour only repeats what words say.
enum class colour : std::uint8_t { plain, ansi };

struct text_style {
    std::size_t width = 100; ///< columns of the terminal; lines stay within it down to 40
    colour colours = colour::plain;
};

/// Every experiment, its tables, the missing or failed rows, the rank; the conclusions come last.
[[nodiscard]] std::string text_tables(const result& found, text_style style = {});

/// One experiment, for a command that prints each when it finishes. `machine` tells whether the build is optimised.
[[nodiscard]] std::string text_tables(const experiment_result& found, const machine_info& machine,
                                      text_style style = {});

/// Who leads for what and where ours trails most, a paragraph per experiment, with its primary figures; then the
/// distance to the best of the others over all experiments.
[[nodiscard]] std::string text_conclusions(const result& found, text_style style = {});

/// Compares two results.
[[nodiscard]] std::string text_tables(const comparison& found, text_style style = {});

}
