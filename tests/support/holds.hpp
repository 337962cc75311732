// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Searches a text for words.

#include <string_view>

namespace support {

/// Whether the text contains the words.
[[nodiscard]] inline bool holds(std::string_view text, std::string_view words) {
    return text.find(words) != std::string_view::npos;
}

}
