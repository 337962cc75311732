// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Damerau-Levenshtein distance (optimal string alignment) with the usual table.

#include "cli/arguments/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace tenure::lab {

namespace {

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

std::string lower(std::string_view text) {
    std::string made{text};
    for (char& letter : made) letter = lower(letter);
    return made;
}

}

std::size_t edit_distance(std::string_view left, std::string_view right) {
    std::vector<std::vector<std::size_t>> cost(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
    for (std::size_t i = 0; i <= left.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= right.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const bool same = lower(left[i - 1]) == lower(right[j - 1]);
            std::size_t best = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + !same});
            const bool swapped = i > 1 && j > 1 && lower(left[i - 1]) == lower(right[j - 2]) &&
                                 lower(left[i - 2]) == lower(right[j - 1]);
            if (swapped) best = std::min(best, cost[i - 2][j - 2] + 1);
            cost[i][j] = best;
        }
    }
    return cost[left.size()][right.size()];
}

std::string nearest_name(std::string_view word, std::span<const std::string> names) {
    std::string best;
    std::size_t fewest = 0;
    for (const std::string& name : names) {
        const std::size_t changes = edit_distance(word, name);
        const bool near_enough = changes * 3 <= std::max(name.size(), word.size()) || has_piece(name, word);
        if (near_enough && (best.empty() || changes < fewest)) {
            best = name;
            fewest = changes;
        }
    }
    return best;
}

std::string unknown_name(std::string_view kind, std::string_view word, std::span<const std::string> names) {
    const std::string best = nearest_name(word, names);
    std::vector<std::string> listed;
    const auto has_comma = [](const std::string& name) { return name.find(',') != std::string::npos; };
    const bool quoted = std::any_of(names.begin(), names.end(), has_comma);
    for (const std::string& name : names) listed.push_back(quoted ? fmt::format("\"{}\"", name) : name);
    return fmt::format("there is no {} \"{}\".{} There are: {}.", kind, word,
                       best.empty() ? "" : fmt::format(" Did you mean \"{}\"?", best), fmt::join(listed, ", "));
}

bool same_name(std::string_view left, std::string_view right) { return lower(left) == lower(right); }

bool has_piece(std::string_view name, std::string_view word) {
    return !word.empty() && lower(name).find(lower(word)) != std::string::npos;
}

}
