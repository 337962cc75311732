// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Spelling suggestions: the name with the smallest edit distance.

#include <span>
#include <string>
#include <string_view>

namespace tenure::lab {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
/// Case-insensitive.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// The nearest name; empty when no name contains the word or is within a third of the longer length.
[[nodiscard]] std::string nearest_name(std::string_view word, std::span<const std::string> names);

/// `there is no KIND "WORD". Did you mean "…"? There are: …`. All names are quoted when one contains a comma.
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view word,
                                       std::span<const std::string> names);

/// Whether two names are equal, ignoring case.
[[nodiscard]] bool same_name(std::string_view left, std::string_view right);

/// Whether `name` contains a non-empty word, ignoring case.
[[nodiscard]] bool has_piece(std::string_view name, std::string_view word);

}
