// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How long a text is to the eye, and how to shorten it: letters of UTF-8, not bytes.

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::lab {

/// Columns that a text takes: its code points. Wide letters are not looked up.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// `text` shortened to `width` columns, the last of them an ellipsis.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t width);

}
