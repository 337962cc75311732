// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/layout.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "report/analysis/metric_value.hpp"
#include "report/numbers.hpp"
#include "report/result/primary.hpp"

namespace tenure::lab {

namespace {

std::string lower(std::string_view text) {
    std::string lowered(text);
    for (char& letter : lowered) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return lowered;
}

bool same_figure(const figure& column, const metric& measured) {
    return column.metric == measured.name && column.variant == measured.variant && column.unit == measured.unit;
}

/// In order of first appearance of the variants. A figure that only a late contestant has is moved to its variant.
void group_by_variant(std::vector<figure>& figures) {
    std::vector<std::string> variants;
    for (const figure& column : figures) {
        if (std::find(variants.begin(), variants.end(), column.variant) == variants.end()) {
            variants.push_back(column.variant);
        }
    }
    const auto place_of = [&](const figure& column) {
        return std::find(variants.begin(), variants.end(), column.variant) - variants.begin();
    };
    std::stable_sort(figures.begin(), figures.end(),
                     [&](const figure& a, const figure& b) { return place_of(a) < place_of(b); });
}

const judged_figure* find_judged(const experiment_result& found, const metric& measured) {
    if (!found.summarized) return nullptr;
    const std::vector<judged_figure>& all = found.summarized->figures;
    const auto place = std::find_if(all.begin(), all.end(), [&](const judged_figure& one) {
        return one.metric == measured.name && one.variant == measured.variant && one.unit == measured.unit;
    });
    return place == all.end() ? nullptr : &*place;
}

/// Every distinct figure.
std::vector<figure> figures_of(const experiment_result& found) {
    std::vector<figure> figures;
    for (const contestant_result& contestant : found.contestants) {
        for (const metric& measured : contestant.metrics) {
            const bool known = std::any_of(figures.begin(), figures.end(),
                                           [&](const figure& column) { return same_figure(column, measured); });
            if (known) continue;
            figures.push_back({measured.name, measured.variant, measured.unit, measured.sense, kind_of(measured),
                               is_primary(found, measured.name, measured.variant), false,
                               find_judged(found, measured)});
        }
    }
    group_by_variant(figures);
    return figures;
}

const metric* find_metric(const contestant_result& contestant, const figure& column) {
    const auto place = std::find_if(contestant.metrics.begin(), contestant.metrics.end(),
                                    [&](const metric& measured) { return same_figure(column, measured); });
    return place == contestant.metrics.end() ? nullptr : &*place;
}

const contestant_result* find_baseline(const experiment_result& found) {
    const auto place = std::find_if(found.contestants.begin(), found.contestants.end(), [&](const auto& contestant) {
        return contestant.name == found.baseline && contestant.state == outcome::measured;
    });
    return place == found.contestants.end() ? nullptr : &*place;
}

cell make_cell(const contestant_result& contestant, const contestant_result* baseline, const figure& column) {
    const metric* measured = find_metric(contestant, column);
    if (measured == nullptr) return {summarize({}), summarize({}), {}};
    const metric* reference = baseline == nullptr ? nullptr : find_metric(*baseline, column);
    const bool has_ratio = reference != nullptr && column.sense != better::neither;
    return {value_of(*measured), has_ratio ? ratio_of(*measured, *reference) : summarize({}), measured->samples,
            measured->resolution};
}

table make_table(const experiment_result& found, std::string variant, std::vector<figure> figures) {
    table made{std::move(variant), std::move(figures), {}};
    const contestant_result* baseline = find_baseline(found);
    for (const contestant_result& contestant : found.contestants) {
        if (contestant.state != outcome::measured) continue;
        table_row row{&contestant, role_of(contestant, found.baseline), contestant.name == found.baseline, {}};
        for (const figure& column : made.figures) row.cells.push_back(make_cell(contestant, baseline, column));
        const bool any =
            std::any_of(row.cells.begin(), row.cells.end(), [](const cell& one) { return one.value.count != 0; });
        if (any) made.rows.push_back(std::move(row));
    }
    return made;
}

/// Marks the figures that only one contestant has. With a single contestant there is nothing to compare anyway.
void mark_alone(const experiment_result& found, std::vector<figure>& figures) {
    const table all = make_table(found, {}, figures);
    if (all.rows.size() < 2) return;
    for (std::size_t index = 0; index < figures.size(); ++index) {
        figures[index].alone = std::count_if(all.rows.begin(), all.rows.end(), [index](const table_row& row) {
                                   return row.cells[index].value.count != 0;
                               }) == 1;
    }
}

/// A table per variant with the figures that `Accept` selects.
template<class Accept>
std::vector<table> tables_by_variant(const experiment_result& found, const std::vector<figure>& figures,
                                     Accept accept) {
    std::vector<table> tables;
    for (std::size_t first = 0; first < figures.size();) {
        std::vector<figure> chosen;
        std::size_t end = first;
        for (; end < figures.size() && figures[end].variant == figures[first].variant; ++end) {
            if (accept(figures[end])) chosen.push_back(figures[end]);
        }
        if (!chosen.empty()) tables.push_back(make_table(found, figures[first].variant, std::move(chosen)));
        first = end;
    }
    return tables;
}

}

layout lay_out(const experiment_result& found) {
    std::vector<figure> figures = figures_of(found);
    mark_alone(found, figures);
    std::vector<figure> compared;
    std::copy_if(figures.begin(), figures.end(), std::back_inserter(compared),
                 [](const figure& column) { return !column.is_told(); });
    const auto of_kind = [](figure_kind kind) {
        return [kind](const figure& column) { return column.kind == kind && !column.is_told(); };
    };
    layout made;
    made.whole = make_table(found, {}, std::move(compared));
    made.timed = tables_by_variant(found, figures, of_kind(figure_kind::timed));
    made.memory = tables_by_variant(found, figures, of_kind(figure_kind::memory));
    made.told = tables_by_variant(found, figures, [](const figure& column) { return column.is_told(); });
    for (const contestant_result& contestant : found.contestants) {
        if (contestant.state != outcome::measured) made.absent.push_back(&contestant);
    }
    made.has_baseline = find_baseline(found) != nullptr;
    return made;
}

std::vector<left_out_row> left_out_of(const experiment_result& found) {
    std::vector<left_out_row> rows;
    for (const contestant_result& who : found.contestants) {
        const std::size_t first = rows.size();
        for (const left_out_part& one : who.left_out) {
            const auto same = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                           [&](const left_out_row& row) { return row.reason == one.reason; });
            if (same == rows.end()) {
                rows.push_back({&who, fmt::format("\"{}\"", one.part), one.reason});
            } else {
                same->parts += fmt::format(", \"{}\"", one.part);
            }
        }
    }
    return rows;
}

role role_of(const contestant_result& contestant, std::string_view baseline) {
    switch (contestant.role) {
    case contestant_role::reference: return role::reference;
    case contestant_role::checked: return role::checked; // listed beside the unchecked one, to show what checking costs
    case contestant_role::ours:
    case contestant_role::peer: break;
    }
    if (contestant.name == baseline) return role::baseline;
    return contestant.role == contestant_role::ours ? role::ours : role::peer;
}

figure_kind kind_of(const metric& measured) {
    if (measured.sense == better::neither) return figure_kind::fact;
    static constexpr std::array<std::string_view, 9> byte_units{"B",   "bytes", "KiB", "MiB", "GiB",
                                                                "TiB", "kB",    "MB",  "GB"};
    const bool bytes = std::find(byte_units.begin(), byte_units.end(), measured.unit) != byte_units.end();
    return bytes ? figure_kind::memory : figure_kind::timed;
}

std::size_t ambiguous_figures(const contestant_result& who) {
    std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> times;
    for (const metric& one : who.metrics) ++times[{one.name, one.variant, one.unit}];
    return static_cast<std::size_t>(
        std::count_if(times.begin(), times.end(), [](const auto& each) { return each.second > 1; }));
}

bool better_than(double left, double right, better sense) {
    return sense == better::larger ? left > right : left < right;
}

bool has_ratios(const table& from, std::size_t figure_index) {
    return std::any_of(from.rows.begin(), from.rows.end(),
                       [figure_index](const table_row& row) { return row.cells[figure_index].ratio.count != 0; });
}

std::string figure_name(const figure& column) {
    return column.variant.empty() ? column.metric : fmt::format("{}, {}", column.metric, column.variant);
}

std::string median_text(const cell& one) {
    if (one.value.median <= one.resolution && one.resolution > 0) return "< " + value_text(one.resolution);
    return value_text(one.value.median);
}

std::string figure_title(const figure& column) {
    return column.unit.empty() ? column.metric : fmt::format("{}, {}", column.metric, column.unit);
}

std::string build_mark(const machine_info& machine) {
    if (machine.flags.find("-fsanitize") != std::string::npos) return "instrumented build";
    const std::string type = lower(machine.build_type);
    const std::size_t level = machine.flags.rfind("-O");
    if (level != std::string::npos) {
        const char chosen = level + 2 < machine.flags.size() ? machine.flags[level + 2] : ' ';
        const bool measurable = chosen == '2' || chosen == '3' || chosen == 's' || chosen == 'z' || chosen == 'f';
        return measurable ? "" : "unoptimised build";
    }
    // CMake's Debug type sets no -O option, which means -O0 in GCC. If neither is known, assume the worst.
    const bool optimising_type = type == "release" || type == "relwithdebinfo" || type == "minsizerel";
    return optimising_type ? "" : "unoptimised build";
}

}
