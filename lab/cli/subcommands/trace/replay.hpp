// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure replay`: makes the recorded calls of a program on each malloc, and shows their time and memory.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/subcommands/trace/replay_options.hpp"

namespace tenure::lab {

class replay_command {
public:
    explicit replay_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run(int argc, char** argv) const;

private:
    [[nodiscard]] int replay(int argc, char** argv) const;
    [[nodiscard]] std::string facts_of(const trace& recorded, const replay_plan& plan) const;

    CLI::App* command_;
    replay_options options_;
    std::vector<std::string> against_;
    std::string json_, html_, file_;
    std::uint32_t wait_s_ = 5;
};

}
