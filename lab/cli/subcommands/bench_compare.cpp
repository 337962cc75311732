// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Reads two results, compares them and prints the comparison.

#include "cli/subcommands/bench_compare.hpp"

#include "cli/command_line.hpp"
#include "cli/terminal.hpp"
#include "report/analysis/compare.hpp"
#include "report/json/json.hpp"
#include "report/table/text.hpp"

namespace tenure::lab {

int compare_results(const std::string& before, const std::string& after, bool as_json) {
    const loaded_result first = load_json(before), second = load_json(after);
    for (const loaded_result* each : {&first, &second}) {
        if (each->ok()) continue;
        say(each->error);
        return exit_code::bad_usage;
    }
    const comparison found = compare(first.value, second.value);
    const bool printed = print(as_json ? to_json(found) + "\n" : text_tables(found, output_style()));
    return printed ? exit_code::ok : exit_code::not_written;
}

}
