// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The appearance of the page: one style sheet for light, dark, small screens and paper.

#include <string_view>

namespace tenure::lab {

[[nodiscard]] std::string_view html_style();

/// Fill patterns that the charts refer to; include them once in the page.
[[nodiscard]] std::string_view html_patterns();

}
