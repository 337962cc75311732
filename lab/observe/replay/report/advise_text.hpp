// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Advice as text for a terminal.

#include <string>

#include "observe/replay/report/advice_words.hpp"
#include "report/table/text.hpp"

namespace tenure::lab {

[[nodiscard]] std::string to_text(const advice_report& found, const place_names& names, text_style style = {});

}
