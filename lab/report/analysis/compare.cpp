// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/compare.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "report/analysis/layout.hpp"

namespace tenure::lab {

namespace {

template<class T>
const T* named(const std::vector<T>& among, std::string_view name) {
    const auto place = std::find_if(among.begin(), among.end(), [&](const T& one) { return one.name == name; });
    return place == among.end() ? nullptr : &*place;
}

bool enough(const summary& before, const summary& after) {
    return before.count >= min_compared_rounds && after.count >= min_compared_rounds;
}

bool medians_apart(const summary& before, const summary& after) {
    return std::abs(after.median - before.median) > min_compared_change * std::abs(before.median);
}

change judged(const summary& before, const summary& after, better sense) {
    if (!medians_apart(before, after)) return change::same;
    if (!has_range(before) || !has_range(after)) return change::not_available;
    if (!ranges_apart(before, after)) return change::same;
    if (sense == better::neither) return change::moved;
    return better_than(after.median, before.median, sense) ? change::better : change::worse;
}

/// What a row says about the allocator, without the machine's own drift.
change verdict_of(const compared_metric& row, bool is_baseline) {
    if (!enough(row.before, row.after)) return change::too_few;
    const change absolute = judged(row.before, row.after, row.sense);
    // Memory does not drift with the machine, and facts have no ratio.
    if (row.kind != figure_kind::timed) return absolute;
    const bool is_known = absolute == change::same || absolute == change::not_available;
    const change moved_with_machine = is_known ? absolute : change::drifted;
    if (is_baseline) return moved_with_machine;
    if (row.ratio_before.count == 0 || row.ratio_after.count == 0) return change::not_comparable;
    if (!enough(row.ratio_before, row.ratio_after)) return change::too_few;
    const change relative = judged(row.ratio_before, row.ratio_after, row.sense);
    return relative == change::same ? moved_with_machine : relative;
}

std::string path_of(std::string_view experiment, std::string_view contestant, const figure& column) {
    return column.variant.empty()
               ? fmt::format("{} / {} / {}", experiment, contestant, column.metric)
               : fmt::format("{} / {} / {} / {}", experiment, contestant, column.variant, column.metric);
}

/// All figures of an experiment in one table, including those that are shown without comparison.
table all_figures(const layout& laid) {
    table whole = laid.whole;
    for (const table& facts : laid.told) {
        for (const table_row& row : facts.rows) {
            auto place = std::find_if(whole.rows.begin(), whole.rows.end(),
                                      [&](const table_row& one) { return one.who == row.who; });
            if (place == whole.rows.end()) {
                whole.rows.push_back({row.who, row.part, row.is_baseline, std::vector<cell>(whole.figures.size())});
            }
        }
        for (table_row& row : whole.rows) {
            const auto place = std::find_if(facts.rows.begin(), facts.rows.end(),
                                            [&](const table_row& one) { return one.who == row.who; });
            row.cells.resize(whole.figures.size());
            if (place == facts.rows.end()) {
                row.cells.resize(whole.figures.size() + facts.figures.size());
            } else {
                row.cells.insert(row.cells.end(), place->cells.begin(), place->cells.end());
            }
        }
        whole.figures.insert(whole.figures.end(), facts.figures.begin(), facts.figures.end());
    }
    return whole;
}

const table_row* row_named(const table& among, std::string_view name) {
    const auto place =
        std::find_if(among.rows.begin(), among.rows.end(), [&](const table_row& row) { return row.who->name == name; });
    return place == among.rows.end() ? nullptr : &*place;
}

const cell* find_cell(const table& among, const table_row& row, const figure& column) {
    for (std::size_t index = 0; index < among.figures.size(); ++index) {
        const figure& one = among.figures[index];
        if (one.metric != column.metric || one.variant != column.variant || one.unit != column.unit) continue;
        return row.cells[index].value.count == 0 ? nullptr : &row.cells[index];
    }
    return nullptr;
}

/// How often a contestant has a figure. More than once is an error in the experiment. The harness rejects it today, but
/// older results contain it.
std::size_t times_recorded(const contestant_result& who, const figure& column) {
    return static_cast<std::size_t>(std::count_if(who.metrics.begin(), who.metrics.end(), [&](const metric& one) {
        return one.name == column.metric && one.variant == column.variant && one.unit == column.unit;
    }));
}

void note_ambiguous(const table& from, std::string_view experiment, std::string_view side,
                    std::vector<std::string>& into) {
    for (const table_row& row : from.rows) {
        for (const figure& column : from.figures) {
            const std::size_t times = times_recorded(*row.who, column);
            if (times < 2) continue;
            into.push_back(
                fmt::format("{} ({} times in the {} result)", path_of(experiment, row.who->name, column), times, side));
        }
    }
}

/// Notes the figures of `row` that `other` does not have.
void note_missing(const table& from, const table_row& row, const table& other, const table_row& other_row,
                  std::string_view experiment, std::vector<std::string>& into) {
    for (std::size_t index = 0; index < from.figures.size(); ++index) {
        if (row.cells[index].value.count == 0) continue;
        if (find_cell(other, other_row, from.figures[index]) != nullptr) continue;
        into.push_back(path_of(experiment, row.who->name, from.figures[index]));
    }
}

std::string why_absent(const experiment_result& experiment, std::string_view name) {
    const contestant_result* who = named(experiment.contestants, name);
    if (who == nullptr) return "did not take part in the other";
    const std::string_view state = who->state == outcome::failed ? "failed" : "missing";
    return who->reason.empty() ? std::string(state) : fmt::format("{} in the other: {}", state, who->reason);
}

/// Notes the contestants of `from` that have no figures in `other`.
void note_contestants(const table& from, const table& other, const experiment_result& other_experiment,
                      std::vector<std::string>& into) {
    for (const table_row& row : from.rows) {
        if (row_named(other, row.who->name) != nullptr) continue;
        into.push_back(fmt::format("{} / {} ({})", other_experiment.name, row.who->name,
                                   why_absent(other_experiment, row.who->name)));
    }
}

/// The figures of one contestant that both results have exactly once.
std::vector<compared_metric> common_rows(const table& before, const table& after, const table_row& old_row,
                                         const table_row& new_row, const std::string& experiment) {
    std::vector<compared_metric> rows;
    for (std::size_t index = 0; index < after.figures.size(); ++index) {
        const figure& column = after.figures[index];
        const cell& now = new_row.cells[index];
        const cell* then = find_cell(before, old_row, column);
        if (then == nullptr || now.value.count == 0) continue;
        if (times_recorded(*old_row.who, column) > 1 || times_recorded(*new_row.who, column) > 1) continue;
        rows.push_back({experiment, new_row.who->name, column.variant, column.metric, column.unit, column.kind,
                        column.sense, then->value, now.value, then->ratio, now.ratio});
    }
    return rows;
}

void warn(std::vector<std::string>& warnings, std::string_view what, std::string_view before, std::string_view after) {
    const auto shown = [](std::string_view text) { return text.empty() ? std::string_view("unknown") : text; };
    if (before != after) warnings.push_back(fmt::format("{}: {} / {}", what, shown(before), shown(after)));
}

void warn_of_machine(const machine_info& before, const machine_info& after, std::vector<std::string>& warnings) {
    warn(warnings, "CPU", before.cpu, after.cpu);
    warn(warnings, "cores", std::to_string(before.cores), std::to_string(after.cores));
    warn(warnings, "kernel", before.kernel, after.kernel);
    warn(warnings, "system", before.system, after.system);
    warn(warnings, "C library", before.c_library, after.c_library);
    warn(warnings, "huge pages", before.huge_pages, after.huge_pages);
    warn(warnings, "compiler", before.compiler, after.compiler);
    warn(warnings, "flags", before.flags, after.flags);
    warn(warnings, "build type", before.build_type, after.build_type);
}

/// All values of a parameter; some names, such as "environment", occur several times.
std::string values_of(const std::vector<parameter>& given, std::string_view name) {
    std::string text;
    for (const parameter& one : given) {
        if (one.name == name) text += fmt::format("{}{}", text.empty() ? "" : ", ", one.value);
    }
    return text;
}

/// Warns about options that differ. The seed differs in every run and does not affect what was measured, so it is
/// skipped.
void warn_of_options(const experiment_result& before, const experiment_result& after,
                     std::vector<std::string>& warnings) {
    std::vector<std::string_view> names;
    for (const auto* side : {&before.parameters, &after.parameters}) {
        for (const parameter& one : *side) {
            const bool known = std::find(names.begin(), names.end(), one.name) != names.end();
            if (!known && one.name != "--seed" && one.name != "--out") names.push_back(one.name);
        }
    }
    for (const std::string_view name : names) {
        const std::string then = values_of(before.parameters, name), now = values_of(after.parameters, name);
        const auto shown = [](const std::string& text) { return text.empty() ? std::string("not given") : text; };
        warn(warnings, fmt::format("{} {}", after.name, name), shown(then), shown(now));
    }
}

void warn_of_experiment(const experiment_result& before, const experiment_result& after,
                        std::vector<std::string>& warnings) {
    warn_of_options(before, after, warnings);
    warn(warnings, after.name + " baseline", before.baseline, after.baseline);
    for (const contestant_result& now : after.contestants) {
        const contestant_result* then = named(before.contestants, now.name);
        if (then == nullptr || then->state != outcome::measured || now.state != outcome::measured) continue;
        warn(warnings, fmt::format("{}, version of {}", after.name, now.name), then->version, now.version);
    }
}

void compare_experiment(const experiment_result& before, const experiment_result& after, comparison& into) {
    warn_of_experiment(before, after, into.warnings);
    const layout old_layout = lay_out(before);
    const layout new_layout = lay_out(after);
    const table then = all_figures(old_layout);
    const table now = all_figures(new_layout);
    note_ambiguous(then, after.name, "old", into.ambiguous);
    note_ambiguous(now, after.name, "new", into.ambiguous);
    note_contestants(then, now, after, into.only_before);
    note_contestants(now, then, before, into.only_after);
    for (const table_row& new_row : now.rows) {
        const table_row* old_row = row_named(then, new_row.who->name);
        if (old_row == nullptr) continue;
        for (compared_metric& row : common_rows(then, now, *old_row, new_row, after.name)) {
            row.verdict = verdict_of(row, new_row.is_baseline);
            into.rows.push_back(std::move(row));
        }
        note_missing(then, *old_row, now, new_row, after.name, into.only_before);
        note_missing(now, new_row, then, *old_row, after.name, into.only_after);
    }
}

std::string name_of(const result& found) {
    std::string name = found.started_at.empty() ? "undated" : found.started_at;
    if (!found.machine.commit.empty()) name += ", commit " + found.machine.commit;
    const std::string mark = build_mark(found.machine);
    if (!mark.empty()) name += ", " + mark;
    if (is_summary(found)) name += ", summary without rounds";
    return found.complete ? name : name + ", interrupted";
}

}

std::size_t comparison::count(change kind) const {
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [kind](const compared_metric& row) { return row.verdict == kind; }));
}

comparison compare(const result& before, const result& after) {
    comparison made;
    made.before_name = name_of(before);
    made.after_name = name_of(after);
    warn_of_machine(before.machine, after.machine, made.warnings);
    for (const experiment_result& now : after.experiments) {
        const experiment_result* then = named(before.experiments, now.name);
        if (then == nullptr) {
            made.only_after.push_back(now.name);
        } else {
            compare_experiment(*then, now, made);
        }
    }
    for (const experiment_result& then : before.experiments) {
        if (named(after.experiments, then.name) == nullptr) made.only_before.push_back(then.name);
    }
    return made;
}

}
