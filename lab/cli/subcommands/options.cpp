// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Prints the library's option table.

#include "cli/subcommands/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/base/options.hpp>

#include "cli/arguments/nearest.hpp"
#include "cli/command_line.hpp"
#include "cli/terminal.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<std::string_view, 7> part_words{"arena",        "temp", "temp_job", "pool",
                                                     "small_object", "heap", "affinity"};
constexpr std::array<std::string_view, 11> mitigation_words{"double_free", "canary", "front",      "form",
                                                            "size",        "fill",   "quarantine", "shuffle",
                                                            "zero_size",   "guards", "records"};
constexpr std::array<std::string_view, 3> report_words{"none", "text", "json"};

/// A size as it can be given: 4M for 4194304.
std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 4> suffixes{"", "K", "M", "G"};
    std::size_t suffix = 0;
    while (bytes != 0 && bytes % 1024 == 0 && suffix + 1 < suffixes.size()) {
        bytes /= 1024;
        ++suffix;
    }
    return fmt::format("{}{}", bytes, suffixes[suffix]);
}

/// The words for these bits, found with the library's own parser.
std::string set_text(const option_info& info, std::span<const std::string_view> words, std::uint64_t parts) {
    if (parts == 0) return "none";
    if (parts == info.highest) return "all";
    std::string made;
    for (std::string_view word : words) {
        std::uint64_t bit = 0;
        if (!parse_option(info, word, bit) || (parts & bit) == 0) continue;
        made += made.empty() ? "" : ",";
        made += word;
    }
    return made;
}

/// The word for this number, found with the library's own parser.
std::string report_text(const option_info& info, std::uint64_t form) {
    for (std::string_view word : report_words) {
        std::uint64_t number = 0;
        if (parse_option(info, word, number) && number == form) return std::string{word};
    }
    return std::to_string(form);
}

std::string option_value_text(const option_info& info, std::uint64_t value) {
    switch (info.form) {
    case option_form::bytes: return bytes_text(value);
    case option_form::parts: return set_text(info, part_words, value);
    case option_form::mitigations: return set_text(info, mitigation_words, value);
    case option_form::report: return report_text(info, value);
    case option_form::count: break;
    }
    return std::to_string(value);
}

std::string_view origin_text(option_origin origin) {
    switch (origin) {
    case option_origin::environment: return "environment";
    case option_origin::program: return "program";
    case option_origin::built_in: break;
    }
    return "built in";
}

std::string in_words() {
    std::string made;
    for (const option_info& info : option_table()) {
        made += fmt::format("{} = {}   ({})\n    {}=VALUE   {}; default {}\n    {}\n", info.name,
                            option_value_text(info, option_value(info.id)), origin_text(option_source(info.id)),
                            info.environment, valid_values(info), option_value_text(info, info.built_in), info.help);
    }
    return made;
}

nlohmann::json as_json() {
    nlohmann::json made = nlohmann::json::array();
    for (const option_info& info : option_table()) {
        made.push_back({{"name", info.name},
                        {"value", option_value_text(info, option_value(info.id))},
                        {"origin", origin_text(option_source(info.id))},
                        {"environment", info.environment},
                        {"valid", valid_values(info)},
                        {"default", option_value_text(info, info.built_in)},
                        {"help", info.help}});
    }
    return made;
}

}

std::string valid_values(const option_info& info) {
    if (info.form == option_form::parts) {
        return fmt::format("all, none, or some of {} separated by commas", fmt::join(part_words, ", "));
    }
    if (info.form == option_form::mitigations) {
        return fmt::format("all, none, or some of {} separated by commas", fmt::join(mitigation_words, ", "));
    }
    if (info.form == option_form::report) return "none, text or json";
    return fmt::format("from {} to {}{}", option_value_text(info, info.lowest), option_value_text(info, info.highest),
                       info.form == option_form::bytes ? " bytes; K, M and G suffixes allowed" : "");
}

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

options_command::options_command(CLI::App& app)
    : command_(app.add_subcommand("options", "Lists every setting of the library, its value, and the source of the "
                                             "value")) {
    command_->add_flag("--json", json_, "Prints JSON");
    command_->footer(fmt::format("\nExample:\n  TENURE_TEMP_BUDGET=16M tenure options\n\n{}", plain_exit_codes_help));
}

int options_command::run() const {
    return print(json_ ? as_json().dump(2) + "\n" : in_words()) ? exit_code::ok : exit_code::not_written;
}

}
