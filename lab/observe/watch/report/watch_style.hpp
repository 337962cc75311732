// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Styles of the watch page beyond those of the bench page: fills, lanes, lists of places.

#include <string>
#include <string_view>

namespace tenure::lab {

/// CSS rules; they follow html_style().
[[nodiscard]] std::string watch_style();

/// Definitions of the fill patterns, once per page. Class `f-NAME` is the fill with its pattern, `t-NAME` its plain
/// colour for marks too narrow for a pattern.
[[nodiscard]] std::string watch_patterns();

}
