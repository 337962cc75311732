// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure options`: every setting of the library, its value, and where that came from.

#include <CLI/CLI.hpp>

namespace tenure::lab {

class settings_command {
public:
    explicit settings_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run() const;

private:
    CLI::App* command_;
    bool json_ = false;
};

}
