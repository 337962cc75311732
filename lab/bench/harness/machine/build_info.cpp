// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Returns the build's macros as text.

#include "bench/harness/machine/build_info.hpp"

#include <string_view>

namespace tenure::lab::build_info {

namespace {

/// Removes the quotes of a macro that is a string literal.
std::string unquoted(std::string_view text) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    return std::string{text};
}

std::string defined_or(std::string_view name, std::string_view text, std::string_view otherwise) {
    return text == name || text.empty() || text == "\"\"" ? std::string{otherwise} : unquoted(text);
}

bool compiler_optimises() { return std::string_view{TENURE_LAB_TEXT(__OPTIMIZE__)} == "1"; }

}

std::string compiler() {
    const bool clang = std::string_view{TENURE_LAB_TEXT(__clang__)} == "1";
    const std::string version = __VERSION__;
    return clang ? version : "GCC " + version;
}

std::string flags() { return defined_or("TENURE_BUILD_FLAGS", TENURE_LAB_TEXT(TENURE_BUILD_FLAGS), "unknown"); }

std::string type() {
    return defined_or("TENURE_BUILD_TYPE", TENURE_LAB_TEXT(TENURE_BUILD_TYPE),
                      compiler_optimises() ? "Release" : "Debug");
}

std::string commit() { return defined_or("TENURE_BUILD_COMMIT", TENURE_LAB_TEXT(TENURE_BUILD_COMMIT), "unknown"); }

}
