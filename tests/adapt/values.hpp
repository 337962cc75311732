// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the tests of adaptors put into containers and owners.

#include <string>

namespace adapt {

/// Counts itself, holds memory of its own, and throws when it is asked to.
struct counted {
    explicit counted(int start) : value(start) {
        if (start < 0) throw start;
        ++alive;
    }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }
    static inline int alive = 0;
    int value;
    std::string text = "a text that is long enough to lie on the heap";
};

inline constexpr const char* long_text = "a text that is too long to lie within the string itself";

}
