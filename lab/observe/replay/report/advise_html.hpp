// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Advice as one page, with a plot of the lifetimes of each group.

#include <string>
#include <string_view>

#include "observe/replay/report/advice_words.hpp"

namespace tenure::lab {

[[nodiscard]] std::string to_html(const advice_report& found, const place_names& names, std::string_view file);

}
