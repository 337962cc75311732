// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The settings that `tenure record` passes to the library in the environment of the program that it starts. Children
/// of the program inherit them and write files of their own.

namespace tenure::lab::tracer {

/// The whole path of the packed file. The raw file of the process that the command has started is `FILE.raw`; those of
/// other processes are `FILE.PROCESS.raw`, or `FILE.PROCESS.NUMBER.raw` after exec.
constexpr const char* file_variable = "TENURE_RECORD_FILE";
constexpr const char* process_variable = "TENURE_RECORD_PROCESS";         ///< the number of that process
constexpr const char* stacks_variable = "TENURE_RECORD_STACKS";           ///< most frames of a stack
constexpr const char* free_stacks_variable = "TENURE_RECORD_FREE_STACKS"; ///< 1: frees have stacks as well
constexpr const char* sample_variable = "TENURE_RECORD_SAMPLE"; ///< bytes between two recorded ones; zero: all
constexpr const char* access_variable = "TENURE_RECORD_ACCESS"; ///< 1: the file lists blocks in use: live_blocks.hpp
constexpr const char* number_variable = "TENURE_RECORD_NUMBER"; ///< file_header::recording

constexpr unsigned max_stack_frames = 64;

}
