// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What accesses say, in sentences and as JSON.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "observe/replay/affinity/affinity_advice.hpp"
#include "observe/replay/report/advice_words.hpp"

namespace tenure::lab {

/// A heading and the sentences below it.
struct affinity_words {
    std::string title;               ///< empty: none
    std::vector<std::string> frames; ///< call sites and their callers
    std::vector<std::string> lines;
};
/// Nothing for a trace without accesses.
[[nodiscard]] std::vector<affinity_words> words_of(const affinity_report& found, const place_names& names);

[[nodiscard]] nlohmann::ordered_json to_json(const affinity_report& found, const place_names& names);

}
