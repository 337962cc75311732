// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/result/csv.hpp"

#include <string_view>

#include <fmt/format.h>

#include "report/analysis/layout.hpp"
#include "report/numbers.hpp"
#include "report/result/words.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view header =
    "experiment,contestant,version,kind,state,reason,build,baseline,variant,metric,unit,better,rounds,"
    "median,low,high,ratio,ratio_low,ratio_high,samples\n";

std::string field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"') quoted += '"';
        quoted += letter;
    }
    return quoted + '"';
}

std::string number(double value) {
    // Spreadsheets and data frames read an empty field as "no value".
    return value != value ? "" : exact_text(value);
}

std::string joined(const std::vector<double>& samples) {
    std::string text;
    for (const double sample : samples) {
        if (!text.empty()) text += ' ';
        text += exact_text(sample);
    }
    return text;
}

std::string identity(const experiment_result& experiment, const contestant_result& who, std::string_view state,
                     std::string_view reason, std::string_view build) {
    return fmt::format("{},{},{},{},{},{},{},{}", field(experiment.name), field(who.name), field(who.version),
                       field(who.kind), state, field(reason), field(build), field(experiment.baseline));
}

/// The columns before the figure: the contestant and how its row ended.
std::string identity(const experiment_result& experiment, const contestant_result& who, std::string_view build) {
    return identity(experiment, who, word_of(who.state), who.reason, build);
}

/// Appends a line for each part that a contestant was left out of. The part's name is in the variant column.
void append_left_out(std::string& text, const experiment_result& experiment, std::string_view build) {
    for (const contestant_result& who : experiment.contestants) {
        for (const left_out_part& one : who.left_out) {
            text += identity(experiment, who, "left out", one.reason, build);
            text += fmt::format(",{},,,,0,,,,,,,\n", field(one.part));
        }
    }
}

std::string line(const std::string& identity, const figure& column, const cell& one) {
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", identity, field(column.variant),
                       field(column.metric), field(column.unit), word_of(column.sense), one.value.count,
                       number(one.value.median), number(one.value.low), number(one.value.high),
                       number(one.ratio.median), number(one.ratio.low), number(one.ratio.high), joined(one.samples));
}

void append_table(std::string& text, const experiment_result& experiment, const table& from, std::string_view build) {
    for (const table_row& row : from.rows) {
        for (std::size_t index = 0; index < from.figures.size(); ++index) {
            const cell& one = row.cells[index];
            if (one.samples.empty() && one.value.count == 0) continue;
            text += line(identity(experiment, *row.who, build), from.figures[index], one);
        }
    }
}

}

std::string to_csv(const result& found) {
    std::string text(header);
    const std::string mark = build_mark(found.machine);
    const std::string& build = mark.empty() ? found.machine.build_type : mark;
    for (const experiment_result& experiment : found.experiments) {
        const layout laid = lay_out(experiment);
        append_table(text, experiment, laid.whole, build);
        for (const table& told : laid.told) append_table(text, experiment, told, build);
        for (const contestant_result* who : laid.absent) {
            text += identity(experiment, *who, build) + ",,,,,0,,,,,,,\n";
        }
        append_left_out(text, experiment, build);
    }
    return text;
}

}
