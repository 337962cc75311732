// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// POSIX's regular expressions by those of C++, for GoogleTest: without them it knows neither classes nor alternatives.

#include <cstddef>
#include <regex>

struct regex_t {
    std::regex* made;
    std::size_t re_nsub;
};
struct regmatch_t {
    std::ptrdiff_t rm_so, rm_eo;
};
#define REG_EXTENDED 1

inline int regcomp(regex_t* to, const char* text, int) {
    try {
        to->made = new std::regex(text, std::regex::extended);
        return 0;
    } catch (const std::regex_error&) {
        to->made = nullptr;
        return 1;
    }
}

inline int regexec(const regex_t* wanted, const char* text, std::size_t count, regmatch_t* found, int) {
    std::cmatch match;
    if (wanted->made == nullptr || !std::regex_search(text, match, *wanted->made)) return 1;
    if (count != 0) *found = {match.position(0), match.position(0) + match.length(0)};
    return 0;
}

inline void regfree(regex_t* gone) {
    delete gone->made;
    gone->made = nullptr;
}
