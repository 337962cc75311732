// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Call sites with pages of their own as text for a terminal.

#include <string>

#include "observe/replay/report/separation_words.hpp"
#include "report/table/text.hpp"

namespace tenure::lab {

[[nodiscard]] std::string to_text(const separation_report& found, const place_names& names, text_style style);

}
