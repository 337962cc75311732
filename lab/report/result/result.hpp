// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The result of a bench run: plain data, filled by harness and written by the rest of this room.
///
/// A `result` contains a machine, a build and experiments; an experiment contains contestants, and each contestant its
/// metrics with one sample per round. Tables and charts are computed from the samples, so CSV, JSON, HTML and the
/// terminal always agree. A result that was read from a summary file has a summary in place of the samples.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "report/result/experiment_summary.hpp"

namespace tenure::lab {

/// Whether a smaller or a larger value is better.
enum class better : std::uint8_t { smaller, larger, neither };

/// One figure of one contestant, measured once per round.
///
/// Three conventions let a report work without knowledge of the experiment: a unit of bytes (B, KiB, MiB, GiB) makes it
/// memory, which is shown apart from times; `better::neither` makes it a fact, shown without bar and ratio; the fact
/// "overflow index" is drawn into the distance plot of its variant.
struct metric {
    std::string name;    ///< "alloc", "free", "peak resident"; unique within (contestant, variant)
    std::string variant; ///< its column group: "warm", "cold", "64 B, random order"; may be empty
    std::string unit;    ///< "ns/op", "MiB"
    better sense = better::smaller;
    std::vector<double> samples; ///< by round; a failed round holds NaN, so that index i is the same round for all
    std::optional<metric_summary> summarized = std::nullopt; ///< from a summary file, which has no samples
    double resolution = 0; ///< of the clock: a value that is not above it was too short to be measured
};

/// The value of a list where there is no number: null in JSON.
inline constexpr std::int64_t no_number = std::numeric_limits<std::int64_t>::min();

/// A list of numbers that is the same in every round and stored once, such as the distances of the article; or the
/// medians over the rounds, such as the memory at each place of a trace.
///
/// Reports know two names. "distances": value i is how far allocation i + 1 begins after the end of allocation i.
/// "resident, four times a second": KiB, read while the program waits; drawn over time.
struct series {
    std::string name;    ///< "distances"
    std::string variant; ///< "cold", "warm"
    std::string unit;    ///< "bytes"
    std::vector<std::int64_t> values;
};

/// How a contestant's row ended.
enum class outcome : std::uint8_t { measured, missing, failed };

/// A part of the experiment that a contestant was left out of, at the sizes of this run.
struct left_out_part {
    std::string part;   ///< "all, 64 B"
    std::string reason; ///< one sentence
};

/// What a contestant is, as its experiment declares it. A reference is a bare or rebuilt scheme to compare with;
/// `checked` is a form of ours that reports the caller's mistakes.
enum class contestant_role : std::uint8_t { peer, ours, checked, reference };

struct contestant_result {
    std::string name;    ///< "glibc malloc", "tenure pool"
    std::string version; ///< reported by the peer itself or by its package; empty when there is none
    std::string kind;    ///< how it is used, for people: "preload", "inlined", "library", "reference (ours)"
    contestant_role role = contestant_role::peer;
    outcome state = outcome::measured;
    std::string reason; ///< why it is missing or failed: one sentence
    std::string proof;  ///< which object served the calls, and how many calls reached it
    std::string note;   ///< a remark about this row for the reader; may be empty
    std::vector<left_out_part> left_out;
    std::vector<metric> metrics;
    std::vector<series> lists;
};

/// A table of words beside the numbers: the property table of the pool article.
struct property_table {
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
};

/// One contestant divided by another, shown beside the ratios to the baseline.
struct quotient {
    std::string title; ///< "Persistent/TempJob"
    std::string over;  ///< name of the contestant in the numerator: "tenure Persistent"
    std::string under; ///< name of the contestant in the denominator
};

/// Selects figures by metric and variant; in each, `*` stands for any number of characters.
struct figure_pattern {
    std::string metric;        ///< "p99"
    std::string variant = "*"; ///< "free, *"
};

struct parameter {
    std::string name;  ///< "--count"
    std::string value; ///< "1000"
};

struct experiment_result {
    std::string name;                ///< "lifetimes"
    std::string question;            ///< the question it answers, one sentence
    std::vector<std::string> unfair; ///< what would make the comparison unfair, and what it does not show
    std::string baseline;            ///< the contestant that ratios refer to
    std::vector<parameter> parameters;
    std::uint32_t rounds = 0;
    std::vector<contestant_result> contestants;
    std::vector<series> lists; ///< of the workload, the same for every contestant: the places of a trace
    std::vector<property_table> properties;
    std::vector<quotient> quotients;
    std::string ranking_rule;         ///< how the overall rank is made; empty for no rank
    std::vector<std::string> ranking; ///< best first; when empty, ranking.hpp ranks by the geometric mean of the ratios
    std::vector<std::string> unranked;   ///< names of metrics that do not count in the rank
    std::vector<figure_pattern> primary; ///< figures of the summary, declared by the experiment before it ran
    std::optional<experiment_summary> summarized = std::nullopt; ///< from a summary file: answers that need the rounds
};

struct machine_info {
    std::string cpu, kernel, system, c_library, compiler, flags, build_type, commit, huge_pages;
    std::uint32_t cores = 0;
    std::uint64_t memory_bytes = 0;
};

struct result {
    std::string tool_version;
    std::string started_at; ///< ISO 8601, UTC
    std::string command;
    bool complete = true; ///< false when interrupted; the result contains what was finished
    machine_info machine;
    std::vector<experiment_result> experiments;
};

/// Whether a result comes from a summary file, so that it has no rounds.
[[nodiscard]] inline bool is_summary(const result& found) {
    return std::any_of(found.experiments.begin(), found.experiments.end(),
                       [](const experiment_result& one) { return one.summarized.has_value(); });
}

}
