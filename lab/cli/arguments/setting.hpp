// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads NAME=VALUE, an option of the library for a program that is to be run.

#include <string>
#include <string_view>

namespace tenure::lab {

/// A variable of the environment.
struct named_setting {
    std::string variable, value;
};

/// Reads NAME=VALUE. `given_as` is the user's own name for it: --set or --limit.
/// Returns   what is wrong with it; empty when it is valid.
[[nodiscard]] std::string read_setting(const std::string& setting, std::string_view given_as, named_setting& read);

}
