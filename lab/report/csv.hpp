// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A result as comma-separated values: one long table for machines, and the files of the lifetimes article.

#include <string>
#include <string_view>
#include <vector>

#include "report/result.hpp"

namespace tenure::lab {

/// One line per (experiment, contestant, variant, metric); a contestant that is missing or failed has one line with
/// its reason. Commas and quotes as RFC 4180, decimal points whatever the locale.
[[nodiscard]] std::string to_csv(const result& found);

/// A file that the caller writes.
struct named_text {
    std::string name; ///< safe on every file system, unique within the experiment whatever the case
    std::string text;
};

/// The article's three files per contestant of an experiment that has series named "distances": CONTESTANT_times.csv
/// (Operation,Time_ns: nanoseconds for all `count` operations, the article has ticks), CONTESTANT_distances.csv
/// (Distance) and CONTESTANT_buckets.csv (Distance,Count in order of first appearance). The variant stands between
/// name and kind where the experiment has more than one.
[[nodiscard]] std::vector<named_text> article_files(const experiment_result& found);

/// `name` with everything but letters, digits, dot and dash replaced by a dash; never empty, hidden or reserved.
[[nodiscard]] std::string safe_file_name(std::string_view name);

}
