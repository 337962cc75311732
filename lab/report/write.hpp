// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes a result to disk: results.json, results.csv, charts, the articles' files, report.html.

#include <filesystem>
#include <string>
#include <string_view>

#include "report/result/result.hpp"

namespace tenure::lab {

/// Writes DIR/results.json, DIR/results.csv, DIR/EXPERIMENT/*.csv, DIR/EXPERIMENT.svg for each experiment with primary
/// figures, and DIR/report.html; creates DIR.
/// Returns   empty, or a sentence about the file that could not be written and why. Files are replaced whole or not at
///           all.
[[nodiscard]] std::string write_all(const result& found, const std::filesystem::path& directory);

/// The file that a path names in the end: a symbolic link's target, which need not exist. A circle of links is returned
/// as one of them.
[[nodiscard]] std::filesystem::path followed(std::filesystem::path path);

/// Writes one file through a temporary file beside it, so that a reader never sees half of it. A symbolic link stays,
/// and its target is written.
/// Returns   empty, or a sentence about what failed and why.
[[nodiscard]] std::string write_file(const std::filesystem::path& path, std::string_view content);

}
