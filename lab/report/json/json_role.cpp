// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json/json_role.hpp"

#include <cctype>
#include <string>

namespace tenure::lab {

namespace {

std::string lower(std::string_view text) {
    std::string lowered(text);
    for (char& letter : lowered) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return lowered;
}

}

contestant_role role_without_field(std::string_view name, std::string_view kind) {
    if (lower(kind).starts_with("reference")) return contestant_role::reference;
    const std::string lowered = lower(name);
    if (!lowered.starts_with("tenure")) return contestant_role::peer;
    const bool is_checked = lowered.find("hardened") != std::string::npos ||
                            lowered.find("checked") != std::string::npos ||
                            lower(kind).find("checked") != std::string::npos;
    return is_checked ? contestant_role::checked : contestant_role::ours;
}

}
