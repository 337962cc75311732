// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "orders/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string>

namespace orders {

namespace {

[[nodiscard]] std::string without_spaces(std::string_view text) {
    std::string answer;
    std::copy_if(text.begin(), text.end(), std::back_inserter(answer),
                 [](unsigned char letter) { return std::isspace(letter) == 0; });
    return answer;
}

}

void expect_in_source(std::string_view file, std::initializer_list<std::string_view> texts) {
    std::ifstream stream(std::string{TENURE_SOURCES "/"} + std::string{file});
    const std::string whole = without_spaces(std::string{std::istreambuf_iterator<char>(stream), {}});
    ASSERT_FALSE(whole.empty()) << file;
    for (const std::string_view each : texts)
        EXPECT_NE(whole.find(without_spaces(each)), std::string::npos)
            << file << " no longer has:\n    " << each << "\nChange the test's copy of the protocol with it.";
}

}
