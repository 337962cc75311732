// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Is a page well formed, and does it hold together? A small reader of tags, enough for what this room writes.

#include <string>
#include <string_view>
#include <vector>

namespace tenure::lab {

/// What is wrong with a page: tags that do not match, a name used twice, a reference to nothing. Empty when all is
/// well.
[[nodiscard]] std::vector<std::string> faults_of(std::string_view page);

/// How often `words` occur.
[[nodiscard]] std::size_t count_of(std::string_view text, std::string_view words);

}
