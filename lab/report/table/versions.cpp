// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/table/versions.hpp"

#include <cctype>

#include <fmt/format.h>

namespace tenure::lab {

std::string versions_of(const table& from) {
    std::string words;
    for (const table_row& row : from.rows) {
        const std::string& version = row.who->version;
        if (row.part == role::ours || row.part == role::checked || version.empty()) continue;
        const bool is_number = std::isdigit(static_cast<unsigned char>(version.front())) != 0;
        words +=
            fmt::format("{}{}{} {}", words.empty() ? "Versions: " : ", ", row.who->name, is_number ? "" : ":", version);
    }
    return words;
}

}
