// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What somebody may have meant: the name that takes the fewest changes.

#include <span>
#include <string>
#include <string_view>

namespace tenure::lab {

/// Insertions, deletions, replacements and swaps of neighbours that make one of the other; letters in either case.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// The nearest name; empty when none is within a third of the longer length, or contains the word.
[[nodiscard]] std::string nearest_name(std::string_view word, std::span<const std::string> names);

/// `there is no KIND "WORD". Did you mean "…"? There are: …`; all are quoted there when one has a comma in it.
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view word,
                                       std::span<const std::string> names);

/// Whether two names are the same but for the case of their letters.
[[nodiscard]] bool same_name(std::string_view left, std::string_view right);

/// Whether a word that is not empty stands in a name, in letters of either case.
[[nodiscard]] bool has_piece(std::string_view name, std::string_view word);

}
