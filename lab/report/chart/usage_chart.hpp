// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Usage by owner tag and frame: a chart per tag, with its budget and the frames that exceeded it.

#include <string>
#include <string_view>

#include "report/json/usage_json.hpp"

namespace tenure::lab {

/// A tag's bytes in the process heap by frame, as an HTML figure with a legend. `id` is unique in the page.
[[nodiscard]] std::string draw_usage(const frame_usages& log, const tag_frames& shown, std::string_view id);

/// A page with a chart per tag, largest first, and a table.
[[nodiscard]] std::string usage_page(const frame_usages& log, std::string_view title);

}
