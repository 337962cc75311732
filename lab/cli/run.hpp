// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure run`: a program, unmodified, with a malloc of choice.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tenure::lab {

class run_command {
public:
    explicit run_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }

    /// Becomes the program. Returns   only when it does not come to that.
    [[nodiscard]] int run() const;

private:
    CLI::App* command_;
    std::string heap_ = "tenure";
    std::vector<std::string> settings_;
    std::string report_;
    std::vector<std::string> program_;
};

}
