// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The pieces that an experiment's section of the page is put together from.

#include <string>
#include <string_view>
#include <vector>

#include "report/layout.hpp"

namespace tenure::lab {

/// What every piece of one section needs.
struct section {
    const experiment_result& found;
    const layout& laid;
    std::string mark;   ///< of the build, into every caption; may be empty
    std::string prefix; ///< begins every anchor and picture name of this section: unique in the page
};

/// Who leads and who trails; and the best choice per figure where they are few.
[[nodiscard]] std::string html_summary(const section& in);

/// The best choice per figure where they are too many for the summary.
[[nodiscard]] std::string html_choices(const section& in);

/// The ratios of everyone at everything, the best choices marked.
[[nodiscard]] std::string html_ratio_matrix(const section& in);

/// Median, spread and ratio of the figures of one variant.
[[nodiscard]] std::string html_figure_table(const section& in, const table& from);

/// Figures that are told and not compared; downwards where they are many and the contestants few.
[[nodiscard]] std::string html_told_table(const section& in, const table& from);

/// One contestant over another, where the experiment asks for it.
[[nodiscard]] std::string html_quotients(const section& in);

/// Distances between successive allocations: an overview, then two pictures per contestant.
[[nodiscard]] std::string html_distances(const section& in);

/// The rank and how it was made.
[[nodiscard]] std::string html_rank(const section& in);

/// Tables of words: properties, who took part, who did not.
[[nodiscard]] std::string html_properties(const section& in);
[[nodiscard]] std::string html_contestants(const section& in);
[[nodiscard]] std::string html_absent(const section& in);

/// The whole section of one experiment.
[[nodiscard]] std::string html_experiment(const section& in);

/// The distance to the best of the others over all experiments, a section of the page; empty: nothing to count.
[[nodiscard]] std::string html_standings(const result& found, const std::string& mark);

/// A contestant's name with words beside it for what it is; never by colour alone.
[[nodiscard]] std::string html_name(std::string_view name, role part, bool is_baseline);

/// Opens a row with its name.
[[nodiscard]] std::string html_row_head(const table_row& row);

/// The head of a plain table; a title that begins with '#' stands over numbers.
[[nodiscard]] std::string html_head(const std::vector<std::string_view>& titles);

/// A table that scrolls sideways on its own. `body` is rows; the caption is escaped and takes the build's mark.
[[nodiscard]] std::string html_table(const section& in, std::string_view caption, std::string_view body,
                                     std::string_view css = {});

}
