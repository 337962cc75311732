// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The words for enumerations in JSON and CSV: one table for writers and readers.

#include <array>
#include <cstddef>
#include <string_view>

#include "report/analysis/compare.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

inline constexpr std::array<std::string_view, 3> better_words{"smaller", "larger", "neither"};
inline constexpr std::array<std::string_view, 3> outcome_words{"measured", "missing", "failed"};
inline constexpr std::array<std::string_view, 4> role_words{"peer", "ours", "checked", "reference"};
inline constexpr std::array<std::string_view, 8> change_words{
    "same", "better", "worse", "drifted", "moved", "not comparable", "too few rounds", "not available"};
inline constexpr std::array<std::string_view, 4> standing_words{"none", "leads", "level", "trails"};

[[nodiscard]] constexpr std::string_view word_of(better sense) { return better_words[static_cast<std::size_t>(sense)]; }

[[nodiscard]] constexpr std::string_view word_of(outcome state) {
    return outcome_words[static_cast<std::size_t>(state)];
}

[[nodiscard]] constexpr std::string_view word_of(contestant_role role) {
    return role_words[static_cast<std::size_t>(role)];
}

[[nodiscard]] constexpr std::string_view word_of(change verdict) {
    return change_words[static_cast<std::size_t>(verdict)];
}

}
