// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/arguments/whole_number.hpp"

#include <charconv>
#include <limits>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace tenure::lab {

CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest) {
    const auto take = [lowest, highest](std::string& text) -> std::string {
        std::int64_t value = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        if (!whole || value < lowest || value > highest)
            return fmt::format("\"{}\" is not a whole number from {} to {}", text, lowest, highest);
        text = std::to_string(value);
        return {};
    };
    const bool bounded = highest != std::numeric_limits<std::int64_t>::max();
    return {take, bounded ? fmt::format("{} to {}", lowest, highest) : "", "whole number"};
}

}
