// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/arguments/setting.hpp"

#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include <tenure/base/options.hpp>

#include "cli/arguments/nearest.hpp"
#include "cli/subcommands/options.hpp"

namespace tenure::lab {

std::string read_setting(const std::string& setting, std::string_view given_as, named_setting& read) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) return fmt::format("--set needs NAME=VALUE, not \"{}\"", setting);
    const std::string name = setting.substr(0, equals), value = setting.substr(equals + 1);
    std::vector<std::string> names;
    for (const option_info& info : option_table()) {
        names.emplace_back(info.name);
        if (name != info.name && name != info.environment) continue;
        std::uint64_t number = 0;
        if (!parse_option(info, value, number)) {
            const std::string shown = given_as == "--set" ? fmt::format("--set {}", name) : std::string{given_as};
            return fmt::format("{}: \"{}\" is not valid; {}. {}", shown, value, valid_values(info), info.help);
        }
        read = {std::string{info.environment}, value};
        return {};
    }
    return unknown_name("option", name, names);
}

}
