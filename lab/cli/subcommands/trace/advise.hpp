// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure advise`: tells from a recorded program, or from one that it runs and records, which blocks could use Temp,
/// TempJob, a pool or an arena, and proves it by replay.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "cli/subcommands/trace/replay_options.hpp"

namespace tenure::lab {

class advise_command {
public:
    explicit advise_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    /// Returns   the program's exit status where it is not zero, or one of ours.
    [[nodiscard]] int run(int argc, char** argv) const;

private:
    [[nodiscard]] std::string mistake_in_options(bool is_run) const;
    /// Where a trace comes from.
    enum class origin : std::uint8_t { file, only_process, one_of_several };
    [[nodiscard]] int advise_file(const std::string& file, const found_malloc& base, origin from) const;
    [[nodiscard]] int advise(int argc, char** argv) const;
    [[nodiscard]] int record_and_advise(const found_malloc& base) const;

    CLI::App* command_;
    replay_options options_;
    std::uint32_t groups_ = 8;
    std::string base_ = "glibc", json_, html_, out_;
    std::vector<std::string> checks_, words_;
    bool samples_accesses_ = false;
};

}
