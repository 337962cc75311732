// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure report`: the tables and the distance of saved results; measures nothing.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tenure::lab {

class report_command {
public:
    explicit report_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run() const;

private:
    [[nodiscard]] int run_chart() const;
    [[nodiscard]] int write_summary() const;
    [[nodiscard]] int write_page() const;

    CLI::App* command_;
    std::vector<std::string> paths_, experiments_;
    std::string markdown_, chart_, summary_, html_;
    bool short_ = false;
};

}
