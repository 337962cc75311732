// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure record`: runs a program and records each of its allocations.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tenure::lab {

class record_command {
public:
    explicit record_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }

    /// Returns   the program's exit status, or one of ours.
    [[nodiscard]] int run() const;

private:
    [[nodiscard]] std::string mistake_in_options() const;

    CLI::App* command_;
    std::string out_, sample_;
    std::uint32_t stacks_ = 0;
    bool has_no_free_stacks_ = false, samples_accesses_ = false;
    std::vector<std::string> words_;
};

}
