// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes a result as JSON and reads it back, without loss: numbers in their shortest exact form, NaN as null. A
/// summary (summarized.hpp) has a format of its own: json_summary.hpp.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "report/result/result.hpp"

namespace tenure::lab {

/// The field "format" of a result with rounds, and of a summary. A reader accepts both, and no higher number.
inline constexpr std::int64_t result_format = 1;
inline constexpr std::int64_t summary_format = 2;

/// A result, or the reason for its absence.
struct loaded_result {
    result value;
    std::string error; ///< empty when `value` is valid; otherwise one sentence with the place in the file

    [[nodiscard]] bool ok() const { return error.empty(); }
};

/// A summary when the result is one. The two forms do not mix within a result.
[[nodiscard]] std::string to_json(const result& found);

/// Ignores fields that this version does not know; missing fields keep their defaults. Strings are made printable,
/// because a result may come from somebody else and is printed to terminals.
/// Fails     for text that is not JSON, a field of the wrong type, a file of a newer format, a file that is not a
///           result.
[[nodiscard]] loaded_result parse_json(std::string_view text);

/// Reads the same from a file, or from the results.json in a directory. Errors begin with the path.
/// Fails     also for a path that is not a regular file, and for a file of more than 64 MiB.
[[nodiscard]] loaded_result load_json(const std::filesystem::path& path);

}
