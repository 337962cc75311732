// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What text, JSON and HTML say in the same words: where a group is, what to write, and what it saves.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/replay/advice/advice_report.hpp"

namespace tenure::lab {

/// The frames of a stack of the trace, as people read them, innermost first. Empty texts are not shown.
using place_names = std::function<std::vector<std::string>(std::uint32_t stack)>;

/// "48 bytes", "33 to 48 bytes".
[[nodiscard]] std::string sizes_in_words(const block_group& group);

/// "parse(char const*)": the function that allocates; "blocks of 48 bytes" without stacks.
[[nodiscard]] std::string place_in_words(const block_group& group, const place_names& names);

/// The frames that all blocks of a group have in common, innermost first; then, where there are several, how many call
/// stacks they come from.
[[nodiscard]] std::vector<std::string> frames_in_words(const block_group& group, const place_names& names);

/// Where the scope or the arena ends: "in draw() at scene.cpp:120". Empty when that is not known.
[[nodiscard]] std::string scope_in_words(const block_group& group, const lifetime_advice& advice,
                                         const place_names& names);

/// Where most of the blocks are freed: "release() at list.cpp:12, called by parse() at parse.cpp:40 (96 % of the frees;
/// 3 call stacks)". Empty when the trace does not tell.
[[nodiscard]] std::string frees_in_words(const block_group& group, const place_names& names);

/// The line to write.
struct code_lines {
    std::string cpp, csharp;
};
[[nodiscard]] code_lines lines_for(const block_group& group, const lifetime_advice& advice);

/// "Confidence high: learned on 500 blocks, checked on 1500 more, 0 violations."
[[nodiscard]] std::string confidence_in_words(const lifetime_advice& advice);

/// "4.1 % [3.2 to 5.0] of the replay's time on a warm heap, 3.9 % [2.9 to 4.8] on a new one; 2.3 ns per call".
[[nodiscard]] std::string saving_in_words(const measured_saving& saving);

/// What the reader must know before the groups, in sentences.
[[nodiscard]] std::vector<std::string> limits_in_words(const advice_report& of);
/// What follows the groups: those that are not shown, all advice together, and how it was measured.
[[nodiscard]] std::vector<std::string> rest_in_words(const advice_report& of);
/// "allocations", "frees", "separate calls".
[[nodiscard]] std::string_view name_of(scope_proof proof);
/// What to look at before writing a scope; empty when nothing.
[[nodiscard]] std::string_view scope_warning(const lifetime_advice& advice);

/// "1 thread", "2 threads".
[[nodiscard]] std::string count_in_words(std::uint64_t count, std::string_view noun);

/// "12.3 MiB".
[[nodiscard]] std::string bytes_in_words(double bytes);
/// "1.2 ms".
[[nodiscard]] std::string time_in_words(std::uint64_t ns);

}
