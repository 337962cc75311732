// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The lines of the system's list of mappings, read in parts: "begin-end rwxp offset device inode path".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct mapping_line {
    std::uintptr_t begin, end;
    std::uintptr_t offset;   ///< in the file
    std::string_view rights; ///< "rwxp"
    std::string_view name;   ///< a path, "[heap]", …; empty: none. It may be cut off
};

/// Joins parts to lines. It is large: give it static memory.
class mapping_lines {
public:
    /// Calls `visit(const mapping_line&)` for each line that ends in the part.
    template<class Visit>
    void read(std::string_view part, Visit&& visit) noexcept {
        for (const char each : part) {
            if (each != '\n') {
                if (length_ < sizeof line_) line_[length_++] = each;
                continue;
            }
            mapping_line found{};
            if (parse({line_, length_}, found)) visit(found);
            length_ = 0;
        }
    }

private:
    /// Takes the number off the line, and the letter behind it.
    [[nodiscard]] static std::uintptr_t take_number(std::string_view& line) noexcept {
        constexpr char digits[] = "0123456789abcdef";
        std::uintptr_t value = 0;
        while (!line.empty()) {
            const char* const digit = std::find(digits, digits + 16, line.front());
            line.remove_prefix(1);
            if (digit == digits + 16) break;
            value = value << 4 | static_cast<std::uintptr_t>(digit - digits);
        }
        return value;
    }
    [[nodiscard]] static bool parse(std::string_view line, mapping_line& to) noexcept {
        constexpr std::size_t rights = 4;
        to.begin = take_number(line);
        to.end = take_number(line);
        if (line.size() <= rights) return false;
        to.rights = {line.data(), rights};
        line.remove_prefix(rights + 1);
        to.offset = take_number(line);
        while (!line.empty() && line.front() != '/' && line.front() != '[') line.remove_prefix(1);
        to.name = line;
        return true;
    }

    std::size_t length_ = 0;
    char line_[512]{};
};

}
