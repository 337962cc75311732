// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The tables that a terminal shows: aligned columns, as many per table as the width takes.

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/compare.hpp"
#include "report/result.hpp"

namespace tenure::lab {

/// Whether escape sequences may be written. Colour repeats what words already say.
enum class colour : std::uint8_t { plain, ansi };

struct text_style {
    std::size_t width = 100; ///< columns of the terminal; lines are kept within it down to 40
    colour colours = colour::plain;
};

/// Every experiment, its tables, the rows that are missing or failed, the rank; the conclusions at the end.
[[nodiscard]] std::string text_tables(const result& found, text_style style = {});

/// One experiment, for a command that prints each as it finishes. `machine` says whether the build is optimised.
[[nodiscard]] std::string text_tables(const experiment_result& found, const machine_info& machine,
                                      text_style style = {});

/// Who leads at what and where ours trails most, a paragraph per experiment, with its primary figures; then the
/// distance to the best of the others over all experiments.
[[nodiscard]] std::string text_conclusions(const result& found, text_style style = {});

/// Two results side by side.
[[nodiscard]] std::string text_tables(const comparison& found, text_style style = {});

}
