// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// JSON that is readable for people and in diffs: indented, with short lists and objects on one line.

#include <cmath>
#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

namespace tenure::lab {

/// A JSON list with the result of `make` for each value.
template<class List, class Make>
[[nodiscard]] nlohmann::ordered_json array_of(const List& values, Make make) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& value : values) list.push_back(make(value));
    return list;
}

/// JSON cannot represent numbers that are not finite: NaN becomes null, an infinity a string.
[[nodiscard]] inline nlohmann::ordered_json json_number(double value) {
    if (std::isnan(value)) return nullptr;
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

/// The text, ending with a newline. A list of plain values stays on one line, and so does an object with at most
/// `max_in_line` of them. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value, std::size_t max_in_line = 0);

/// The text in few bytes, ending with a newline: a list of objects has a line for each, and nothing is indented.
[[nodiscard]] std::string json_lines(const nlohmann::ordered_json& value);

}
