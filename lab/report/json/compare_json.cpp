// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/compare.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "report/result/words.hpp"

namespace tenure::lab {

namespace {

using nlohmann::ordered_json;

ordered_json number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

ordered_json to_value(const summary& found) {
    return {{"median", number(found.median)},
            {"low", number(found.low)},
            {"high", number(found.high)},
            {"rounds", found.count}};
}

ordered_json to_value(const compared_metric& row) {
    return {{"experiment", row.experiment},
            {"contestant", row.contestant},
            {"variant", row.variant},
            {"metric", row.metric},
            {"unit", row.unit},
            {"better", word_of(row.sense)},
            {"before", to_value(row.before)},
            {"after", to_value(row.after)},
            {"factor", number(row.factor())},
            {"ratio_before", to_value(row.ratio_before)},
            {"ratio_after", to_value(row.ratio_after)},
            {"verdict", word_of(row.verdict)}};
}

}

std::string to_json(const comparison& found) {
    ordered_json rows = ordered_json::array();
    for (const compared_metric& row : found.rows) rows.push_back(to_value(row));
    const ordered_json whole = {{"before", found.before_name},   {"after", found.after_name},
                                {"warnings", found.warnings},    {"rows", rows},
                                {"ambiguous", found.ambiguous},  {"only_before", found.only_before},
                                {"only_after", found.only_after}};
    return whole.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}
