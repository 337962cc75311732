// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure pins`: shows where the resident memory of a program goes, and which call stacks keep it from going back.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/programs/profiled_program.hpp"
#include "observe/profile/saved_profile.hpp"

namespace tenure::lab {

class pins_command {
public:
    explicit pins_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }

    /// Returns   the program's exit status, or one of ours.
    [[nodiscard]] int run() const;

private:
    [[nodiscard]] std::string mistake_in_options() const;
    [[nodiscard]] int run_and_show() const;
    [[nodiscard]] int show_files() const;
    [[nodiscard]] int show(const std::string& file, const std::vector<std::string>& series,
                           const std::string& folder) const;
    [[nodiscard]] saved_profile loaded(const std::string& file) const;

    CLI::App* command_;
    std::string heap_ = "tenure", sample_, out_, every_, html_, json_, core_, program_;
    bool is_exact_ = false, at_peak_ = false;
    attached_choice attached_;
    shown_stacks shown_;
    std::vector<std::string> words_;
};

}
