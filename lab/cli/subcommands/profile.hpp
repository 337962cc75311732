// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure profile`: runs a program with a heap profile and shows which call stacks hold its memory; shows and compares
/// profiles that were saved.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/programs/profiled_program.hpp"
#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

class profile_command {
public:
    explicit profile_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }

    /// Returns   the program's exit status, or one of ours.
    [[nodiscard]] int run() const;

private:
    [[nodiscard]] std::string mistake_in_options() const;
    [[nodiscard]] int run_and_show() const;
    [[nodiscard]] int show_files() const;
    [[nodiscard]] int show_difference() const;
    [[nodiscard]] int attach() const;
    [[nodiscard]] int show(const std::string& file, const std::string& folder) const;
    /// `saved_at`: at a program's end nearly all is freed, so the peak tells more.
    [[nodiscard]] profile_value value(profile_format::occasion saved_at) const;

    CLI::App* command_;
    std::string sample_, out_, every_, by_, html_, pprof_, folded_, json_;
    bool at_peak_ = false;
    attached_choice attached_;
    shown_stacks shown_;
    std::vector<std::string> difference_, words_;
};

}
