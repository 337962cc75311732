// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// JSON that people and diffs can read: indented, and short things on one line.

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

namespace tenure::lab {

/// A list of what `make` makes of each value.
template<class List, class Make>
[[nodiscard]] nlohmann::ordered_json array_of(const List& values, Make make) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& value : values) list.push_back(make(value));
    return list;
}

/// The text, with a line's end behind it. A list of plain values stays on one line, and so does an object of at most
/// `max_in_line` of them. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value, std::size_t max_in_line = 0);

}
