// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where two call stacks of a trace part.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// The function that contains the call before a return address: a number, the same for the same function; 0: not known.
/// Without it, calls from one place are taken to reach one function.
using code_functions = std::function<std::uint64_t(std::uint64_t return_address)>;

struct stack_relation {
    std::size_t shared = 0;  ///< outer frames in common
    std::uint64_t own = 0;   ///< the return address in the function where they part, of the one stack
    std::uint64_t other = 0; ///< and of the other
    /// A frame further in, the same call has reached two functions, or may have: if a stack ends where they part, the
    /// function that it has reached is not on it.
    bool is_other_function = true;
};

/// Remembers what it has compared.
class stack_relations {
public:
    /// Requires  both outlive the object.
    stack_relations(const trace& recorded, const code_functions& functions)
        : recorded_(recorded), functions_(functions) {}

    /// A stack that may lack its outer frames shares none.
    [[nodiscard]] const stack_relation& of(std::uint32_t stack, std::uint32_t other);

private:
    [[nodiscard]] bool is_cut_short(std::uint32_t stack) const;

    const trace& recorded_;
    const code_functions& functions_;
    std::unordered_map<std::uint64_t, stack_relation> known_; // by both stacks
};

}
