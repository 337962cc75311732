// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The settings that the command passes to the hook in the environment of the program that it starts.

#include <cstdint>

namespace tenure::lab::hook {

// The variables. Child processes inherit them and write files of their own.
constexpr const char* folder_variable = "TENURE_WATCH_DIR";      ///< folder for the files; the hook is off without it
constexpr const char* regions_variable = "TENURE_WATCH_REGIONS"; ///< openmp,tbb,threads,marks,process
constexpr const char* stacks_variable = "TENURE_WATCH_STACKS";   ///< none, frames (by frame pointers), tables
constexpr const char* slow_variable = "TENURE_WATCH_SLOW_NS";    ///< calls slower than this are examined
constexpr const char* plan_variable = "TENURE_WATCH_PLAN";       ///< a file: functions to patch (patch_plan.hpp)
constexpr const char* process_variable = "TENURE_WATCH_PROCESS"; ///< the only process to watch; without it all

enum class stack_mode : std::uint8_t { none, frames, tables };

constexpr std::uint32_t watches_openmp = 1, watches_tbb = 2, watches_threads = 4, watches_marks = 8,
                        watches_process = 16;

struct settings {
    stack_mode stacks = stack_mode::tables;
    std::uint32_t regions = 0;
    std::uint64_t slow_ticks = 0;
    std::uint64_t ticks_per_us = 1;
    bool is_on = false;
};

/// Set once, before the program's own code runs.
extern settings chosen;

}
