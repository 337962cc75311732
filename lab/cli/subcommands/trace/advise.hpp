// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure advise`: tells from a recorded program which blocks could use Temp, TempJob, a pool or an arena, and proves
/// it by replay.

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/subcommands/trace/replay_options.hpp"

namespace tenure::lab {

class advise_command {
public:
    explicit advise_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run() const;

private:
    CLI::App* command_;
    replay_options options_;
    std::uint32_t groups_ = 8;
    std::string base_ = "glibc", json_, html_, file_;
};

}
