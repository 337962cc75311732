// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How the page of the watch looks, beyond what the page of the bench has: fills, lanes, lists of places.

#include <string>
#include <string_view>

namespace tenure::lab {

/// Follows html_style().
[[nodiscard]] std::string watch_style();

/// Patterns of the fills; stands once in the page. Class `f-NAME` is the fill with its pattern, `t-NAME` its colour
/// alone, for what is too narrow for one.
[[nodiscard]] std::string watch_patterns();

}
