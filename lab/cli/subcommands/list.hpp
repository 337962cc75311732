// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure list`: experiments, allocators, and the peers on this machine with their versions.

#include <CLI/CLI.hpp>

namespace tenure::lab {

class list_command {
public:
    explicit list_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run() const;

private:
    CLI::App* command_;
    bool json_ = false;
};

}
