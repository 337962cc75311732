// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// An experiment as tables: computed once from the samples or the summary, then drawn as text, HTML and CSV.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/statistics.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

/// The role of a contestant in one experiment: the declared one, or `baseline` for ours or a peer that ratios refer to.
/// A reference and a checked form are shown, but they are not choices and never named as the best.
enum class role : std::uint8_t { ours, peer, baseline, reference, checked };

[[nodiscard]] constexpr bool is_choice(role part) { return part != role::reference && part != role::checked; }

/// What kind of figure a column contains; decides where and how it is shown.
enum class figure_kind : std::uint8_t { timed, memory, fact };

/// A column.
struct figure {
    std::string metric, variant, unit;
    better sense = better::smaller;
    figure_kind kind = figure_kind::timed;
    bool primary = false;                  ///< declared by the experiment; its summary shows these
    bool alone = false;                    ///< only one of several contestants has it, so there is nothing to compare
    const judged_figure* judged = nullptr; ///< the judge's answer, in a result from a summary file

    /// Shown without comparison: in a table of its own, without bar, ratio and best choice.
    [[nodiscard]] bool is_told() const { return alone || kind == figure_kind::fact; }
};

/// One figure of one contestant; `value.count` is 0 when it was not measured.
struct cell {
    summary value;
    summary ratio;               ///< to the baseline of the same round
    std::vector<double> samples; ///< empty in a result from a summary file
    double resolution = 0;       ///< metric::resolution
};

struct table_row {
    const contestant_result* who; ///< belongs to the experiment that was laid out
    role part;
    bool is_baseline;        ///< a reference can be the baseline too, so this is not a role
    std::vector<cell> cells; ///< one per figure of the table
};

/// Figures of one variant, or of all variants.
struct table {
    std::string variant;
    std::vector<figure> figures;
    std::vector<table_row> rows; ///< contestants with at least one of the figures, in their own order
};

struct layout {
    table whole;                                  ///< every figure that is compared, of all variants
    std::vector<table> timed;                     ///< by variant, in order of first appearance
    std::vector<table> memory;                    ///< by variant
    std::vector<table> told;                      ///< by variant: facts, and figures that only one contestant has
    std::vector<const contestant_result*> absent; ///< missing or failed
    bool has_baseline = false;                    ///< whether ratios could be computed
};

/// The parts that a contestant was left out of for one reason.
struct left_out_row {
    const contestant_result* who;
    std::string parts; ///< "all, 8 B", "all, 64 B", each in quotes
    std::string reason;
};
[[nodiscard]] std::vector<left_out_row> left_out_of(const experiment_result& found);

/// Computes the layout. It points into `found`, which must outlive it.
[[nodiscard]] layout lay_out(const experiment_result& found);

[[nodiscard]] role role_of(const contestant_result& contestant, std::string_view baseline);
[[nodiscard]] figure_kind kind_of(const metric& measured);

/// How many figures a contestant has more than once under the same metric, variant and unit. Only the first is laid
/// out.
[[nodiscard]] std::size_t ambiguous_figures(const contestant_result& who);

/// Whether any contestant has a ratio for a figure.
[[nodiscard]] bool has_ratios(const table& from, std::size_t figure_index);

/// The median of a cell, or "< 0.5" if it is not above the resolution of the clock.
[[nodiscard]] std::string median_text(const cell& one);

/// Whether `left` is the better value for this sense; NaN is never better.
[[nodiscard]] bool better_than(double left, double right, better sense);

inline constexpr std::size_t no_row = static_cast<std::size_t>(-1);

/// "alloc, warm", or only the metric when there is no variant.
[[nodiscard]] std::string figure_name(const figure& column);

/// "alloc, ns/op", or only the metric when there is no unit.
[[nodiscard]] std::string figure_title(const figure& column);

/// "unoptimised build" (below -O2), "instrumented build", or empty: a mark for every table of such a result.
[[nodiscard]] std::string build_mark(const machine_info& machine);

}
