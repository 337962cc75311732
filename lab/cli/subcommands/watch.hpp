// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure watch`: runs a program, unmodified, and shows what its parallel regions allocate and wait for.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/programs/child_program.hpp"

namespace tenure::lab {

struct findings;
struct site_name;

class watch_command {
public:
    explicit watch_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }

    /// Runs the program and reports.
    /// Returns   its exit status, or one of ours.
    [[nodiscard]] int run() const;

private:
    [[nodiscard]] std::string mistake_in_options() const;
    [[nodiscard]] std::string plan_functions(const std::string& program, const std::string& folder,
                                             std::vector<std::string>& names) const;
    [[nodiscard]] ended_program watch_program(const std::string& path, const std::string& library,
                                              const std::string& folder) const;
    [[nodiscard]] int report(const std::string& folder, const std::vector<std::string>& functions,
                             std::vector<std::string> notices, const std::set<site_name>& known,
                             int program_code) const;
    [[nodiscard]] bool read_known(std::set<site_name>& known) const;
    [[nodiscard]] int judge(const findings& found, const std::set<site_name>& known, int program_code) const;

    CLI::App* command_;
    std::vector<std::string> regions_{"auto"};
    std::string stacks_ = "tables";
    std::string tenures_ = "seen";
    std::uint64_t slow_ns_ = 2000;
    bool without_children_ = false, lists_ = false;
    std::size_t sites_ = 10, shown_regions_ = 8, frames_ = 4;
    std::string text_file_, json_file_, html_file_, folded_file_, keep_, from_;
    std::vector<std::string> fail_on_;
    std::string baseline_, written_baseline_;
    int fail_code_ = 99;
    std::vector<std::string> program_;
};

}
