// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Reads results and prints them as `tenure bench` does, or writes the summary of one. Each file has its own
/// conclusions: results of separate runs are not combined.

#include "cli/subcommands/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/arguments/nearest.hpp"
#include "cli/command_line.hpp"
#include "cli/terminal.hpp"
#include "observe/replay/report/replay_html.hpp"
#include "report/chart/experiment_chart.hpp"
#include "report/html/html.hpp"
#include "report/html/html_words.hpp"
#include "report/json/json.hpp"
#include "report/numbers.hpp"
#include "report/result/summarized.hpp"
#include "report/table/markdown.hpp"
#include "report/table/text.hpp"
#include "report/write.hpp"

namespace tenure::lab {

namespace {

/// Where the figures come from, in one line.
std::string origin_of(const std::string& path, const result& found) {
    std::string words = path;
    for (const std::string& fact : {found.started_at, found.machine.cpu, found.command}) {
        if (!fact.empty()) words += fmt::format("{}{}", words == path ? ": " : "; ", fact);
    }
    if (!found.machine.commit.empty()) words += "; commit " + found.machine.commit;
    return words + (found.complete ? "\n" : "; interrupted\n");
}

/// Removes all experiments except the named ones.
/// Returns   the first name that the result does not contain; empty when it contains all.
std::string keep_only(result& found, const std::vector<std::string>& names) {
    if (names.empty()) return {};
    std::vector<std::string> known;
    for (const experiment_result& each : found.experiments) known.push_back(each.name);
    for (const std::string& name : names) {
        if (std::find(known.begin(), known.end(), name) == known.end()) return unknown_name("experiment", name, known);
    }
    std::erase_if(found.experiments, [&](const experiment_result& each) {
        return std::find(names.begin(), names.end(), each.name) == names.end();
    });
    return {};
}

/// Loads a result with the named experiments.
/// Returns   whether it could; if not, the error has been reported.
bool load(const std::string& path, const std::vector<std::string>& experiments, result& into) {
    loaded_result loaded = load_json(path);
    const std::string refused = loaded.ok() ? keep_only(loaded.value, experiments) : loaded.error;
    if (!refused.empty()) say(refused);
    into = std::move(loaded.value);
    return refused.empty();
}

/// Whether both name the same file, or the folder that contains it.
bool is_same_file(const std::string& path, const std::string& result_path) {
    std::error_code ignored;
    const std::filesystem::path file(result_path);
    return std::filesystem::equivalent(path, file, ignored) ||
           std::filesystem::equivalent(path, file / "results.json", ignored);
}

/// "112 KiB".
std::string size_text(std::size_t bytes) { return fmt::format("{} KiB", (bytes + 1023) / 1024); }

std::string markdown_of(const result& found, const std::string& what) {
    if (what == "distance") return markdown_distance(found);
    return what == "trailing" ? markdown_trailing(found) : markdown_tables(found);
}

}

report_command::report_command(CLI::App& app)
    : command_(
          app.add_subcommand("report", "Prints the tables and the distance of earlier results; measures nothing")) {
    command_->add_option("results", paths_, "Files, or folders that contain a results.json")
        ->required()
        ->type_name("FILE|DIR");
    command_->add_flag("--short", short_,
                       "Only the conclusions of each experiment, and the distance over all "
                       "experiments");
    command_->add_option("--experiment", experiments_, "Only these experiments")->type_name("NAME");
    command_
        ->add_option(
            "--markdown", markdown_,
            "Markdown for documents: tables (primary figures), distance (number of figures in which ours leads or "
            "trails), trailing (figures in which ours trails most)")
        ->type_name("WHAT")
        ->check(CLI::IsMember({"tables", "distance", "trailing"}))
        ->excludes("--short");
    command_
        ->add_option("--chart", chart_,
                     "One experiment's primary figures as an SVG picture for documents; reads one file")
        ->type_name("EXPERIMENT")
        ->excludes("--short")
        ->excludes("--markdown")
        ->excludes("--experiment");
    command_
        ->add_option(
            "--summary", summary_,
            "Write the result to this file without its rounds: medians, spreads, ratios and verdicts, at most "
            "a quarter of the size. report prints the same tables from it; bench --compare compares the medians")
        ->type_name("FILE")
        ->excludes("--short")
        ->excludes("--markdown")
        ->excludes("--chart");
    command_
        ->add_option("--html", html_,
                     "Write the page of one result: all tables and charts, and for a result of `tenure replay` its "
                     "memory over the trace; - means standard output")
        ->type_name("FILE")
        ->excludes("--short")
        ->excludes("--markdown")
        ->excludes("--chart")
        ->excludes("--summary");
    command_->footer(fmt::format("\n"
                                 "Examples:\n"
                                 "  tenure report results\n"
                                 "  tenure report --short heap.json pools.json    one summary for each file\n"
                                 "  tenure report results --markdown tables --experiment heap\n"
                                 "  tenure report results --chart heap > heap.svg\n"
                                 "  tenure report results --summary kept.json    to keep in a repository\n"
                                 "  tenure report replay.json --html replay.html memory over the trace, as a page\n\n"
                                 "Exit codes: 0 ok; 2 invalid command line; 3 the file or standard output could not be "
                                 "written; 70 the command itself failed."));
}

int report_command::write_summary() const {
    if (paths_.size() != 1) {
        say(fmt::format("--summary takes one result, and {} were given: results of separate runs are not combined",
                        paths_.size()));
        return exit_code::bad_usage;
    }
    const std::string& path = paths_.front();
    if (is_same_file(summary_, path)) {
        say(fmt::format("--summary {}: this is the result itself, whose rounds would be lost; name another file",
                        summary_));
        return exit_code::bad_usage;
    }
    result found;
    if (!load(path, experiments_, found)) return exit_code::bad_usage;
    if (const std::string why = why_not_summarized(found); !why.empty()) {
        say(fmt::format("{}: cannot be summarized: {}. Measure again with this version of `tenure`", path, why));
        return exit_code::bad_usage;
    }
    const std::string text = to_json(summarized(found));
    if (const std::string refused = write_file(summary_, text); !refused.empty()) {
        say(refused);
        return exit_code::not_written;
    }
    say(fmt::format("written to {}: {}", summary_, size_text(text.size())));
    return exit_code::ok;
}

int report_command::write_page() const {
    if (paths_.size() != 1) {
        say(fmt::format("--html draws one result, and {} were given: results of separate runs are not combined",
                        paths_.size()));
        return exit_code::bad_usage;
    }
    const std::string& path = paths_.front();
    if (is_same_file(html_, path)) {
        say(fmt::format("--html {}: this is the result itself; name another file", html_));
        return exit_code::bad_usage;
    }
    result found;
    if (!load(path, experiments_, found)) return exit_code::bad_usage;
    page_words words;
    words.data = fmt::format("The page was drawn from {}.", element("code", "", path));
    return write_to(html_, is_replay(found) ? replay_page_of_file(found, path) : to_html(found, words))
               ? exit_code::ok
               : exit_code::not_written;
}

int report_command::run_chart() const {
    if (paths_.size() != 1) {
        say(fmt::format("--chart draws one experiment of one file, but {} were given",
                        count_text(paths_.size(), "file")));
        return exit_code::bad_usage;
    }
    loaded_result loaded = load_json(paths_.front());
    if (!loaded.ok()) {
        say(loaded.error);
        return exit_code::bad_usage;
    }
    if (const std::string unknown = keep_only(loaded.value, {chart_}); !unknown.empty()) {
        say(unknown);
        return exit_code::bad_usage;
    }
    const std::string picture = experiment_chart(loaded.value, loaded.value.experiments.front());
    if (picture.empty()) {
        say(fmt::format("{}: {} has no primary figure to draw: it declares none, or none of them was measured",
                        paths_.front(), chart_));
        return exit_code::bad_usage;
    }
    return print(picture) ? exit_code::ok : exit_code::not_written;
}

int report_command::run() const {
    if (!summary_.empty()) return write_summary();
    if (!html_.empty()) return write_page();
    if (command_->get_option("--chart")->count() != 0) return run_chart();
    std::string text;
    for (const std::string& path : paths_) {
        result found;
        if (!load(path, experiments_, found)) return exit_code::bad_usage;
        if (!markdown_.empty()) {
            text += markdown_of(found, markdown_);
            continue;
        }
        text += origin_of(path, found);
        for (const experiment_result& one : found.experiments) {
            if (!short_) text += "\n" + text_tables(one, found.machine, output_style());
        }
        text += text_conclusions(found, output_style()) + (paths_.size() > 1 ? "\n" : "");
    }
    return print(text) ? exit_code::ok : exit_code::not_written;
}

}
