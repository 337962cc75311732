// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A result as JSON and back, without loss: numbers in their shortest exact form, NaN as null.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "report/result.hpp"

namespace tenure::lab {

/// The field "format" of every file. A reader accepts this number and lower ones.
inline constexpr std::int64_t result_format = 1;

/// A result, or why there is none.
struct loaded_result {
    result value;
    std::string error; ///< empty: `value` holds; otherwise one sentence, with the place in the file

    [[nodiscard]] bool ok() const { return error.empty(); }
};

[[nodiscard]] std::string to_json(const result& found);

/// Fields that this version does not know are ignored; fields that are not there keep their defaults. Strings are made
/// printable: a result may be somebody else's, and goes to terminals.
/// Fails     text that is no JSON, a field of another kind, a file of a newer format, a file that is no result.
[[nodiscard]] loaded_result parse_json(std::string_view text);

/// The same from a file; a directory stands for the results.json in it. Errors begin with the path.
/// Fails     also a path that is no regular file, and a file of more than 64 MiB.
[[nodiscard]] loaded_result load_json(const std::filesystem::path& path);

}
