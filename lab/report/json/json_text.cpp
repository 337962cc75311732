// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json/json_text.hpp"

#include <algorithm>

namespace tenure::lab {

namespace {

using nlohmann::ordered_json;

/// Whether it contains plain values only.
bool is_flat(const ordered_json& value) {
    return std::none_of(value.begin(), value.end(), [](const ordered_json& item) { return item.is_structured(); });
}

void print(std::string& text, const ordered_json& value, std::size_t depth, std::size_t max_in_line) {
    constexpr auto replace = ordered_json::error_handler_t::replace;
    const bool is_short = is_flat(value) && (value.is_array() || value.size() <= max_in_line);
    if (!value.is_structured() || value.empty() || is_short) {
        text += value.dump(-1, ' ', false, replace);
        return;
    }
    const std::string indent(depth + 1, ' ');
    text += value.is_object() ? "{" : "[";
    bool first = true;
    for (const auto& [key, item] : value.items()) {
        text += first ? "\n" : ",\n";
        text += indent;
        first = false;
        if (value.is_object()) text += ordered_json(key).dump(-1, ' ', false, replace) + ": ";
        print(text, item, depth + 1, max_in_line);
    }
    text += '\n';
    text += std::string(depth, ' ');
    text += value.is_object() ? "}" : "]";
}

void print_lines(std::string& text, const ordered_json& value) {
    constexpr auto replace = ordered_json::error_handler_t::replace;
    if (!value.is_structured() || is_flat(value)) {
        text += value.dump(-1, ' ', false, replace);
        return;
    }
    const bool has_lines = value.is_array() && value.front().is_object();
    text += value.is_object() ? '{' : '[';
    bool first = true;
    for (const auto& [key, item] : value.items()) {
        if (!first) text += ',';
        if (has_lines) text += '\n';
        first = false;
        if (value.is_object()) text += ordered_json(key).dump(-1, ' ', false, replace) + ":";
        print_lines(text, item);
    }
    text += value.is_object() ? '}' : ']';
}

}

std::string json_text(const ordered_json& value, std::size_t max_in_line) {
    std::string text;
    print(text, value, 0, max_in_line);
    return text + '\n';
}

std::string json_lines(const ordered_json& value) {
    std::string text;
    print_lines(text, value);
    return text + '\n';
}

}
