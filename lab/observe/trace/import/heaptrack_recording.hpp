// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// heaptrack's data files. Each line begins with a letter; numbers are in hex digits.
///
///   raw:          t ADDRESS PARENT          a call in the tree of call stacks, numbered from 1; parent 0: outermost
///                 + BYTES NODE POINTER      an allocation; - POINTER: a free
///                 m NAME BASE (AT BYTES)*   a loaded file and its segments; the name "x" is the program, "-" begins
///                                           a new list
///   interpreted:  s TEXT, i ADDRESS MODULE (FUNCTION FILE LINE)*, t INDEX PARENT
///                 a BYTES NODE              an allocation info: allocations of one size and call stack; from 0
///                 + INFO, - INFO            an allocation and a free of one of its blocks
///   both:         v VERSION FORMAT, x PROGRAM, X COMMAND LINE, c MILLISECONDS; I, R, S, A and # do not matter here
///
/// From format 3 on, the number of bytes stands before a text.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "observe/trace/import/imported_events.hpp"
#include "observe/trace/import/recording_lines.hpp"
#include "observe/trace/import/trace_import.hpp"

namespace tenure::lab {

/// Whether a recording with this first line is of this format.
[[nodiscard]] bool is_heaptrack_line(std::string_view line);

class heaptrack_recording {
public:
    heaptrack_recording(trace& to, const import_limits& limits)
        : to_(to), events_(to, limits), left_bytes_(limits.table_bytes) {}

    /// Returns   false if it cannot be read; trace::error says so if no other can.
    [[nodiscard]] bool take(std::string_view line);
    [[nodiscard]] const std::string& why_full() const { return why_full_.empty() ? events_.why_full() : why_full_; }
    void finish();

private:
    struct instruction {
        std::uint64_t address;
        bool is_new; ///< in operator new
    };
    struct node {
        instruction at;
        std::uint32_t parent; ///< from 1; zero: none
        std::uint32_t stack;  ///< in trace::stacks; zero: not made
    };
    struct info {
        std::uint64_t bytes;
        std::uint32_t node;
        std::uint64_t newest; ///< block in use
    };

    [[nodiscard]] bool take_version(line_fields fields);
    [[nodiscard]] bool take_text(line_fields& fields, std::string_view& to) const;
    [[nodiscard]] bool take_module(line_fields fields);
    [[nodiscard]] bool take_string(line_fields fields);
    [[nodiscard]] bool take_instruction(line_fields fields);
    [[nodiscard]] bool take_node(line_fields fields);
    [[nodiscard]] bool take_info(line_fields fields);
    [[nodiscard]] bool take_allocation(line_fields fields);
    [[nodiscard]] bool take_free(line_fields fields);
    [[nodiscard]] bool take_time(line_fields fields);
    void take_arguments(line_fields fields);
    void allocate_of(info& of);
    void free_of(info& of);
    void add_mapping(std::uint64_t begin, std::uint64_t end, std::uint64_t offset, const std::string& path);
    /// The call of an allocation with this node of the tree; zero: without a stack.
    [[nodiscard]] imported_call call_of(std::uint64_t index);
    /// Returns   false if the tables have no room for as many bytes.
    [[nodiscard]] bool spend(std::uint64_t bytes);

    trace& to_;
    imported_events events_;
    std::uint64_t left_bytes_;
    std::uint64_t time_ns_ = 0, version_ = 0;
    std::string program_, why_full_;
    std::vector<bool> strings_; ///< whether each is the name of an operator new
    std::vector<instruction> instructions_;
    std::vector<node> nodes_;
    std::vector<info> infos_;
    std::vector<std::uint64_t> older_;                ///< of each block: the one of its info that was in use before it
    std::map<std::uint64_t, trace_mapping> mappings_; ///< by address
};

}
