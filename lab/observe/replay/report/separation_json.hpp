// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Call sites with pages of their own as JSON.

#include <string>

#include "observe/replay/report/separation_words.hpp"

namespace tenure::lab {

[[nodiscard]] std::string to_json(const separation_report& found, const place_names& names);

}
