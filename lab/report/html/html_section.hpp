// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The pieces of an experiment's section of the page.

#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/layout.hpp"

namespace tenure::lab {

/// What every piece of a section needs.
struct section {
    const experiment_result& found;
    const layout& laid;
    std::string mark;   ///< the build's mark, added to every caption; may be empty
    std::string prefix; ///< prefix of every anchor and picture name of this section; unique in the page
};

/// Who leads and who trails; also the best choice per figure if there are few figures.
[[nodiscard]] std::string html_summary(const section& in);

/// The best choice per figure if there are too many for the summary.
[[nodiscard]] std::string html_choices(const section& in);

/// The ratios of all contestants for all figures, with the best choices marked.
[[nodiscard]] std::string html_ratio_matrix(const section& in);

/// Median, spread and ratio of the figures of one variant.
[[nodiscard]] std::string html_figure_table(const section& in, const table& from);

/// Figures shown without comparison; one per row when there are many figures and few contestants.
[[nodiscard]] std::string html_told_table(const section& in, const table& from);

/// One contestant divided by another, when the experiment asks for it.
[[nodiscard]] std::string html_quotients(const section& in);

/// Distances between successive allocations: an overview, then two charts per contestant.
[[nodiscard]] std::string html_distances(const section& in);

/// Resident memory over time, for experiments that read it while they wait: a chart and a table for each variant.
[[nodiscard]] std::string html_resident(const section& in);

/// The rank and how it was computed.
[[nodiscard]] std::string html_rank(const section& in);

/// Tables of words: properties, contestants, and those left out.
[[nodiscard]] std::string html_properties(const section& in);
[[nodiscard]] std::string html_contestants(const section& in);
[[nodiscard]] std::string html_absent(const section& in);

/// The whole section of one experiment.
[[nodiscard]] std::string html_experiment(const section& in);

/// The section about the distance to the best of the others over all experiments; empty when there is nothing to count.
[[nodiscard]] std::string html_standings(const result& found, const std::string& mark);

/// A contestant's name with words for its role, so that the role is never shown by colour alone.
[[nodiscard]] std::string html_name(std::string_view name, role part, bool is_baseline);

/// Opens a row with the contestant's name.
[[nodiscard]] std::string html_row_head(const table_row& row);

/// The head of a plain table. A title that begins with '#' is for a column of numbers.
[[nodiscard]] std::string html_head(const std::vector<std::string_view>& titles);

/// A table that scrolls sideways on its own. `body` is rows; the caption is escaped and includes the build's mark.
[[nodiscard]] std::string html_table(const section& in, std::string_view caption, std::string_view body,
                                     std::string_view css = {});

}
