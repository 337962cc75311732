// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a summary file holds instead of the rounds: plain data, computed from the rounds once, when the file was
/// written.
///
/// Tables ask the same functions whether a result has rounds or a summary: value_of() and ratio_of()
/// (metric_value.hpp), verdict_of() (judge.hpp), quotients_of(), rank(), distances_of().

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/analysis/statistics.hpp"

namespace tenure::lab {

/// How one contestant compares with another for a figure.
enum class standing : std::uint8_t { none, leads, level, trails };

/// One figure of one contestant without its rounds. The lowest and highest round are unknown.
struct metric_summary {
    summary value = summarize({});
    summary ratio = summarize({}); ///< to the baseline of the same round: only the median is known
};

/// The judge's answer for one figure. Contestants are named; an empty name stands for none.
struct judged_figure {
    std::string metric, variant, unit;
    std::vector<std::string> best;
    std::string ours, other, reference; ///< the best contestant of each group
    summary against = summarize({});    ///< ours to other by round: only the median is known
    standing stands = standing::none;
};

/// The quotients of an experiment for one of its times.
struct quotient_row {
    std::string figure;       ///< "alloc, warm"
    std::vector<summary> all; ///< in the order of `experiment_result::quotients`, from the same rounds; count 0 when
                              ///< one side was not measured
};

/// One place of the overall rank.
struct ranked {
    std::string name;
    double score;         ///< geometric mean of its ratios; below 1 is better than the baseline
    std::size_t measured; ///< number of figures in the score
    std::size_t possible; ///< number of figures that any contestant has
};

/// A list of distances between successive allocations in seven numbers.
struct distance_summary {
    std::size_t count = 0;
    std::int64_t usual = 0; ///< the most frequent
    std::size_t usual_count = 0;
    std::size_t distinct = 0;
    std::size_t backwards = 0; ///< negative: the block is below the previous one
    std::int64_t lowest = 0, highest = 0;
};

/// The distances of one contestant; variants with the same distances share a row.
struct distance_row {
    std::string contestant;
    std::vector<std::string> variants;
    distance_summary found;
};

/// The answers for one experiment that cannot be computed without the rounds.
struct experiment_summary {
    std::vector<judged_figure> figures; ///< every figure of the experiment
    std::vector<quotient_row> quotients;
    std::vector<ranked> order; ///< the overall rank, best first; empty when the tables show none
    std::vector<distance_row> distances;
};

}
