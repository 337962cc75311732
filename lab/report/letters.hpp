// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How long a text is to the eye, how to shorten it, and what of it may go to a terminal: letters of UTF-8, not bytes.

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::lab {

/// Columns that a text takes: its code points. Wide letters are not looked up.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// `text` shortened to `width` columns, the last of them an ellipsis.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t width);

/// `text` with a blank in the place of each control character, ends of lines among them: names from files of others
/// carry no escape sequence to a terminal. Bytes from 0x80 to 0x9F that belong to no letter are control characters too.
[[nodiscard]] std::string printable(std::string_view text);

}
