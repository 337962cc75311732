// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Everything that a result becomes on disk: results.json, results.csv, the articles' files, report.html.

#include <filesystem>
#include <string>
#include <string_view>

#include "report/result.hpp"

namespace tenure::lab {

/// Writes DIR/results.json, DIR/results.csv, DIR/EXPERIMENT/*.csv and DIR/report.html; makes DIR.
/// Returns   empty, or one sentence that says which file was refused and why. Files are replaced whole or not at all.
[[nodiscard]] std::string write_all(const result& found, const std::filesystem::path& directory);

/// Writes one file through a temporary name beside it, so that a reader never sees half of it.
/// Returns   empty, or one sentence that says what was refused and why.
[[nodiscard]] std::string write_file(const std::filesystem::path& path, std::string_view content);

}
