// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/report/profile_folded.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace tenure::lab {

std::string to_folded(const named_profile& profile, profile_value value) {
    std::map<std::string, double> lines;
    for (const profile_stack& stack : profile.stacks) {
        std::string line = profile.program;
        for (std::string each : path_of(stack)) {
            std::replace(each.begin(), each.end(), ';', ':'); // separates functions
            line += ";" + each;
        }
        lines[line] += (stack.*value).bytes;
    }
    std::string text;
    for (const auto& [line, bytes] : lines) {
        const long long rounded = std::llround(bytes);
        if (rounded > 0) text += fmt::format("{} {}\n", line, rounded);
    }
    return text;
}

}
