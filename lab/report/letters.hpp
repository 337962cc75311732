// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Display width of text, shortening it, and making it safe for a terminal. Counts UTF-8 characters, not bytes.

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::lab {

/// Columns that a text takes: its number of code points. Wide characters are not looked up.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// `text` shortened to `width` columns, the last of them an ellipsis.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t width);

/// `text` shortened to `width` columns with an ellipsis in its middle, so that names with the same beginning stay
/// different.
[[nodiscard]] std::string elided(std::string_view text, std::size_t width);

/// `text` with each control character, including line ends, replaced by a space, so that names from foreign files
/// cannot send escape sequences to a terminal. Bytes from 0x80 to 0x9F outside a character count as control characters
/// too.
[[nodiscard]] std::string printable(std::string_view text);

}
