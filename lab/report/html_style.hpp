// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How the page looks: one style sheet for light, dark, small screens and paper.

#include <string_view>

namespace tenure::lab {

[[nodiscard]] std::string_view html_style();

/// Fill patterns that pictures refer to; stands once in the page.
[[nodiscard]] std::string_view html_patterns();

}
