// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure options`: every setting of the library, its value, and the source of the value.

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

#include <tenure/base/options.hpp>

namespace tenure::lab {

/// The valid values of an option: "from 1 to 3600000", "none, text or json".
[[nodiscard]] std::string valid_values(const option_info&);

/// A variable of the environment.
struct named_setting {
    std::string variable, value;
};
/// Reads NAME=VALUE, an option for a program that is to be run. `given_as` is the user's own name for it: --set or
/// --limit.
/// Returns   what is wrong with it; empty when it is valid.
[[nodiscard]] std::string read_setting(const std::string& setting, std::string_view given_as, named_setting& read);

class options_command {
public:
    explicit options_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run() const;

private:
    CLI::App* command_;
    bool json_ = false;
};

}
