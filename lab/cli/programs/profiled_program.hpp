// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Gets heap profiles from a program: runs it under the drop-in, or asks a process that runs under it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "observe/profile/attached.hpp"

namespace tenure::lab {

inline constexpr std::string_view profile_suffix = ".heapprofile";

/// What is asked for, as on the command line.
struct profile_request {
    std::string sample;   ///< bytes between samples; empty: the library's own choice
    std::string every;    ///< a time; empty: only at the end
    std::string folder;   ///< for the files
    bool at_peak = false; ///< also saves one when the program holds most, and shows that
    bool has_pages = false;
    bool keeps_malloc = false; ///< the program keeps its own malloc, whose blocks are recorded
};

/// How many call stacks a command shows.
struct shown_stacks {
    std::size_t stacks = 10, frames = 6;
    void add_options(CLI::App& command);
};

/// A process that is asked, and for how long it is recorded.
struct attached_choice {
    int process = 0; ///< zero: none
    std::string during = "10s";
    void add_options(CLI::App& command, const std::string& what_it_does);
    /// What is wrong with `during`, as a sentence; empty when nothing is.
    [[nodiscard]] std::string mistake_in(const CLI::App& command) const;
    [[nodiscard]] std::chrono::milliseconds time() const;
};

/// "250ms", "60s", "5m", "1h", in milliseconds.
[[nodiscard]] std::optional<std::uint64_t> duration_ms(std::string_view text);
/// What is wrong with `sample` and `every`, as a sentence; empty when nothing is.
[[nodiscard]] std::string mistake_in(const profile_request& request);

/// The profiles of a run, or of a process.
struct recorded_profiles {
    std::string shown;               ///< the one to show: the last of the program's own process. Empty: there is none
    std::vector<std::string> others; ///< of other processes
    int code = 0;                    ///< the program's own; with no profile, what to exit with
};

/// Runs a program. Errors are reported.
[[nodiscard]] recorded_profiles record_program(const std::vector<std::string>& words, const profile_request& request);

/// Starts the profile of a process, and makes the request `last` after that time: one that saves it. Errors are
/// reported.
[[nodiscard]] recorded_profiles record_process(int process, std::chrono::milliseconds during,
                                               attached_process::request last);

/// Names the profiles of other processes on standard error.
void name_others(const std::vector<std::string>& files, std::string_view command, const std::string& folder);

}
