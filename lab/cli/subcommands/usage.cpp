// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Prints a table of the tags, and draws them as a page.

#include "cli/subcommands/usage.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command_line.hpp"
#include "cli/terminal.hpp"
#include "report/chart/usage_chart.hpp"
#include "report/json/usage_json.hpp"
#include "report/letters.hpp"
#include "report/numbers.hpp"
#include "report/write.hpp"

namespace tenure::lab {

namespace {

/// The bytes of a tag, as far as a program can count them by tag.
struct lifetime_column {
    const char* key; ///< in JSON, before `_peak_bytes`
    std::vector<std::int64_t> tag_frames::*values;
};
constexpr lifetime_column lifetimes[] = {{"temp_job", &tag_frames::temp_job_bytes}, {"temp", &tag_frames::temp_bytes}};

std::string mib_text(std::int64_t bytes) { return value_text(static_cast<double>(bytes) / (1024.0 * 1024.0)); }
std::string mib_text(std::uint64_t bytes) { return value_text(static_cast<double>(bytes) / (1024.0 * 1024.0)); }

std::int64_t refused_count(const tag_frames& each) {
    return std::accumulate(each.refusals.begin(), each.refusals.end(), std::int64_t{0});
}

nlohmann::json json_of(const frame_usages& log) {
    const auto limit = [](const std::optional<std::uint64_t>& bytes) {
        return bytes.has_value() ? nlohmann::json(*bytes) : nlohmann::json();
    };
    nlohmann::json tags = nlohmann::json::array();
    for (const tag_frames& each : log.tags) {
        nlohmann::json row{{"name", each.name},
                           {"peak_bytes", each.peak_bytes()},
                           {"last_bytes", last_of(each.persistent_bytes)},
                           {"limit_bytes", limit(each.limit_bytes)},
                           {"threshold_bytes", limit(each.threshold_bytes)},
                           {"frames_exceeded", each.exceeded_count()},
                           {"refused", refused_count(each)}};
        for (const lifetime_column& held : lifetimes) {
            row[fmt::format("{}_peak_bytes", held.key)] = peak_of(each.*held.values);
            row[fmt::format("{}_last_bytes", held.key)] = last_of(each.*held.values);
        }
        tags.push_back(std::move(row));
    }
    return {{"frame_count", log.frames.size()}, {"tags", std::move(tags)}};
}

std::string table_of(const frame_usages& log) {
    std::string text =
        fmt::format("{}; MiB at the end of each frame, of Temp: allocated within it\n"
                    "{:<24}{:>18}{:>18}{:>18}{:>18}\n{:<24}",
                    count_text(log.frames.size(), "frame"), "", "process heap", "TempJob", "Temp", "budget", "tag");
    for (int count = 0; count < 3; ++count) text += fmt::format("{:>9}{:>9}", "peak", "last");
    text += fmt::format("{:>9}{:>9}{:>9}\n", "limit", "exceeded", "refused");
    for (const tag_frames& each : log.tags) {
        const std::string name = elided(printable(each.name), 23);
        text += fmt::format("{}{:{}}", name, "", 24 - columns_of(name));
        for (const auto* const values : {&each.persistent_bytes, &each.temp_job_bytes, &each.temp_bytes})
            text += fmt::format("{:>9}{:>9}", mib_text(peak_of(*values)), mib_text(last_of(*values)));
        text += fmt::format("{:>9}{:>9}{:>9}\n", each.limit_bytes.has_value() ? mib_text(*each.limit_bytes) : "-",
                            each.exceeded_count(), refused_count(each));
    }
    return text;
}

}

usage_command::usage_command(CLI::App& app)
    : command_(app.add_subcommand("usage", "Shows the memory of each owner tag per frame, from a log that the program "
                                           "wrote (frame_usage_log)")) {
    command_->add_option("log", path_, "The file that frame_usage_log::write() made")->required()->type_name("FILE");
    command_->add_option("--html", html_, "Draws each tag over the frames, with its budget, into this page")
        ->type_name("FILE");
    command_->add_flag("--json", json_, "Prints the table as JSON, in bytes");
    command_->footer(
        "\nExample:\n  tenure usage frames.json --html frames.html\n\nShown are the process heap, TempJob and "
        "Temp, which count by tag. Pools, groups and other heaps do not: pass them a budget_source, or "
        "ask their stats().\n\nExit codes: 0 ok; 2 invalid command "
        "line or log; 3 the page or standard output could not be written; 70 the command itself failed.");
}

int usage_command::run() const {
    const frame_usages log = load_usage(path_);
    if (!log.ok()) {
        say(log.error);
        return exit_code::bad_usage;
    }
    if (!html_.empty()) {
        const std::string error = write_file(html_, usage_page(log, path_));
        if (!error.empty()) {
            say(error);
            return exit_code::not_written;
        }
    }
    return print(json_ ? json_of(log).dump(2) + "\n" : table_of(log)) ? exit_code::ok : exit_code::not_written;
}

}
