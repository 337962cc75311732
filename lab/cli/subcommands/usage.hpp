// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure usage`: the memory of each owner tag per frame, from a log that the program wrote.

#include <string>

#include <CLI/CLI.hpp>

namespace tenure::lab {

class usage_command {
public:
    explicit usage_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run() const;

private:
    CLI::App* command_;
    std::string path_, html_;
    bool json_ = false;
};

}
