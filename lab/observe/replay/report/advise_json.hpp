// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Advice as JSON, with all figures.

#include <string>

#include "observe/replay/report/advice_words.hpp"

namespace tenure::lab {

[[nodiscard]] std::string to_json(const advice_report& found, const place_names& names);

}
