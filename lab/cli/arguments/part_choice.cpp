// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Matches words from the command line with part names. An exact name takes precedence over a piece of a name.

#include "cli/arguments/part_choice.hpp"

#include <algorithm>

#include "bench/harness/schedule.hpp"
#include "cli/arguments/nearest.hpp"

namespace tenure::lab {

namespace {

/// The parts that a word selects: the one with this name, otherwise all whose names contain it.
std::uint64_t meant(const experiment& chosen, std::string_view word) {
    std::uint64_t whole = 0, pieces = 0;
    for (std::size_t i = 0; i < chosen.parts.size(); ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        if (same_name(chosen.parts[i].name, word)) whole |= bit;
        if (has_piece(chosen.parts[i].name, word)) pieces |= bit;
    }
    return whole != 0 ? whole : pieces;
}

}

std::uint64_t part_choice::of(const experiment& chosen) {
    for (const part& each : chosen.parts) {
        std::string name{each.name};
        if (std::find(seen_.begin(), seen_.end(), name) == seen_.end()) seen_.push_back(std::move(name));
    }
    if (words_.empty()) return run_all_parts;
    std::uint64_t parts = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
        const std::uint64_t some = meant(chosen, words_[i]);
        if (some != 0) known_[i] = true;
        parts |= some;
    }
    return parts;
}

std::string part_choice::refusal() const {
    const auto unknown = std::find(known_.begin(), known_.end(), false);
    if (unknown == known_.end()) return {};
    return unknown_name("part", words_[static_cast<std::size_t>(unknown - known_.begin())], seen_);
}

}
