// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// HTML escaping, and names for anchors.

#include <string>
#include <string_view>

namespace tenure::lab {

/// Text that is safe between tags and inside quoted attributes. Invalid UTF-8 and unprintable characters become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// "<tag>escaped text</tag>" with attributes inserted unchanged: `element("td", "class=\"num\"", "1.05")`.
[[nodiscard]] std::string element(std::string_view tag, std::string_view attributes, std::string_view text);

}
