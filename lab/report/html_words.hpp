// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Words into HTML: escaping, and names for anchors.

#include <string>
#include <string_view>

namespace tenure::lab {

/// Text that is safe between tags and inside quoted attributes; what is no UTF-8 or no printable letter becomes U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// "<tag>escaped text</tag>", with attributes as they are: `element("td", "class=\"num\"", "1.05")`.
[[nodiscard]] std::string element(std::string_view tag, std::string_view attributes, std::string_view text);

}
