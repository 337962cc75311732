// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A result as comma-separated values: one long table for machines, and the files of the lifetimes article.

#include <string>
#include <string_view>
#include <vector>

#include "report/result/result.hpp"

namespace tenure::lab {

/// One line per (experiment, contestant, variant, metric). A contestant that is missing or failed has one line with the
/// reason. Commas and quotes follow RFC 4180; the decimal separator is a point in every locale.
[[nodiscard]] std::string to_csv(const result& found);

/// A file for the caller to write.
struct named_text {
    std::string name; ///< safe on every file system, and unique within the experiment even if case is ignored
    std::string text;
};

/// The article's three files for each contestant of an experiment that has series named "distances":
/// CONTESTANT_times.csv (Operation,Time_ns: nanoseconds for all `count` operations, where the article has ticks),
/// CONTESTANT_distances.csv (Distance) and CONTESTANT_buckets.csv (Distance,Count in order of first appearance). With
/// more than one variant, the variant's name comes between the contestant and the kind of file.
[[nodiscard]] std::vector<named_text> article_files(const experiment_result& found);

/// `name` with everything except letters, digits, dots and dashes replaced by a dash. Never empty, hidden or reserved.
[[nodiscard]] std::string safe_file_name(std::string_view name);

}
