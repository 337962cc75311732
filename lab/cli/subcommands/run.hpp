// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure run`: runs a program, unmodified, with a malloc of your choice.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tenure::lab {

class run_command {
public:
    explicit run_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }

    /// Replaces this process with the program.
    /// Returns   only on failure, with the exit code.
    [[nodiscard]] int run() const;

private:
    /// What is wrong with the command line; empty: nothing.
    [[nodiscard]] std::string refusal() const;
    /// Puts the settings into the environment.
    /// Returns   what is wrong with one; empty: nothing.
    [[nodiscard]] std::string apply_settings(bool& is_advice_empty) const;
    void warn_of_empty_advice() const;

    CLI::App* command_;
    std::string heap_ = "tenure";
    std::vector<std::string> settings_;
    std::string report_;
    std::string limit_;
    std::string advice_;
    std::vector<std::string> program_;
};

}
