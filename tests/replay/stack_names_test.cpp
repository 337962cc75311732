// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// How the code of a trace's stacks is named.

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "observe/replay/report/stack_names.hpp"
#include "replay/same_names.hpp"

namespace {

using namespace tenure::lab;

/// A trace of this program.
trace own_trace() {
    trace made;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        trace_mapping mapping;
        char right_to_execute = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*2c%c%*c %" SCNx64, &mapping.begin, &mapping.end,
                        &right_to_execute, &mapping.file_offset) != 4 ||
            right_to_execute != 'x' || line.find('/') == std::string::npos)
            continue;
        mapping.path = line.substr(line.find('/'));
        made.mappings.push_back(mapping);
    }
    return made;
}

TEST(stack_names, functions_of_one_name_are_two_functions) {
    const trace recorded = own_trace();
    stack_names names(recorded);
    const auto first = reinterpret_cast<std::uint64_t>(made::first_run()),
               second = reinterpret_cast<std::uint64_t>(made::second_run());
    const std::uint64_t number = names.function_of(first + 1);
    EXPECT_NE(number, 0U);
    EXPECT_EQ(names.function_of(first + 4), number);
    EXPECT_NE(names.function_of(second + 1), 0U);
    EXPECT_NE(names.function_of(second + 1), number);
    EXPECT_EQ(names.function_of(8), 0U) << "no code is there";
}

}
