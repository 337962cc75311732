// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure run` on Windows: runs a program, unmodified, with the drop-in malloc.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tenure::lab {

class windows_run_command {
public:
    explicit windows_run_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    /// Returns   the program's exit code, or one of our own.
    [[nodiscard]] int run() const;

private:
    /// What is wrong with the command line; empty: nothing.
    [[nodiscard]] std::string refusal() const;
    /// Puts the settings into the environment, which the program gets.
    /// Returns   what is wrong with one; empty: nothing.
    [[nodiscard]] std::string apply_settings() const;
    [[nodiscard]] bool has_own_malloc() const;

    CLI::App* command_;
    std::string heap_ = "tenure";
    std::vector<std::string> settings_;
    std::string report_;
    std::string limit_;
    std::vector<std::string> program_;
};

}
