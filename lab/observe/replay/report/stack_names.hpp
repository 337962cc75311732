// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Names the frames of a trace's stacks.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/profile/named_profile.hpp"
#include "observe/symbols/symbols.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

class stack_names {
public:
    /// Requires  `recorded` outlives the object.
    explicit stack_names(const trace& recorded) : recorded_(recorded) {}

    /// The frames of a stack, innermost first: "parse(char const*) at parse.cpp:120", with short names of standard
    /// types. Functions that were inlined are
    /// before the one that contains them. Those of operator new and Tenure itself are empty.
    [[nodiscard]] const std::vector<std::string>& of(std::uint32_t stack);

    /// The function with the call before a return address: a number, the same for the same function; 0: not known.
    [[nodiscard]] std::uint64_t function_of(std::uint64_t return_address);

private:
    [[nodiscard]] named_profile name(const std::vector<std::uint64_t>& frames);

    const trace& recorded_;
    symbols names_;
    std::map<std::uint32_t, std::vector<std::string>> known_;
    std::map<std::uint64_t, std::uint64_t> functions_;                       // by return address
    std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> numbers_; // by module and start
};

}
