// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The names of the watch's enumerators in machine-readable files. They stay the same when the words for people change.

#include <array>
#include <cstddef>
#include <string_view>

#include "observe/hook/interpose/calls.hpp"
#include "observe/hook/record/recording_format.hpp"

namespace tenure::lab {

inline constexpr std::array<std::string_view, 11> group_words{
    "allocation", "release", "mapping", "lock", "sleep", "input", "format", "stream", "library", "runtime", "control"};
inline constexpr std::array<std::string_view, 9> region_words{"none",     "process", "openmp",   "tbb",    "thread",
                                                              "function", "mark",    "no_alloc", "no_wait"};
inline constexpr std::array<std::string_view, 4> end_words{"none_seen", "exit", "quick_exit", "exec"};

static_assert(static_cast<std::size_t>(hook::call_group::control) + 1 == group_words.size());
static_assert(static_cast<std::size_t>(hook::region_kind::no_wait) + 1 == region_words.size());
static_assert(static_cast<std::size_t>(hook::process_end::exec) + 1 == end_words.size());

/// The name of an enumerator; "unknown" for an invalid number from a recording.
template<std::size_t Count, class Enum>
[[nodiscard]] constexpr std::string_view word_in(const std::array<std::string_view, Count>& words, Enum value) {
    const auto index = static_cast<std::size_t>(value);
    return index < Count ? words[index] : std::string_view("unknown");
}

[[nodiscard]] constexpr std::string_view machine_word(hook::call_group group) { return word_in(group_words, group); }
[[nodiscard]] constexpr std::string_view machine_word(hook::region_kind kind) { return word_in(region_words, kind); }
[[nodiscard]] constexpr std::string_view machine_word(hook::process_end end) { return word_in(end_words, end); }

}
