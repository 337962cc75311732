// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/quotients.hpp"

#include <algorithm>

#include "report/analysis/layout.hpp"

namespace tenure::lab {

namespace {

summary summary_of(const table& from, std::size_t figure, const quotient& asked) {
    const auto samples_of = [&](const std::string& name) -> std::vector<double> {
        const auto row = std::find_if(from.rows.begin(), from.rows.end(),
                                      [&](const table_row& each) { return each.who->name == name; });
        return row == from.rows.end() ? std::vector<double>{} : row->cells[figure].samples;
    };
    return summarize(round_ratios(samples_of(asked.over), samples_of(asked.under)));
}

}

std::vector<quotient_row> quotients_of(const experiment_result& found) {
    if (found.summarized) return found.summarized->quotients;
    std::vector<quotient_row> rows;
    if (found.quotients.empty()) return rows;
    const layout laid = lay_out(found);
    for (const table& from : laid.timed) {
        for (std::size_t index = 0; index < from.figures.size(); ++index) {
            quotient_row row{figure_name(from.figures[index]), {}};
            for (const quotient& asked : found.quotients) row.all.push_back(summary_of(from, index, asked));
            const bool has_one =
                std::any_of(row.all.begin(), row.all.end(), [](const summary& one) { return one.count != 0; });
            if (has_one) rows.push_back(std::move(row));
        }
    }
    return rows;
}

}
