// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The worker's side: one contestant measures one part and sends its findings.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

inline constexpr std::string_view worker_command = "measure-one";

/// A worker's job, passed as a command line and read without the heap.
struct worker_job {
    std::string_view experiment;
    std::size_t source;     ///< index of the experiment's source
    std::size_t contestant; ///< index of the contestant in that source
    std::size_t part;
    std::uint64_t seed;
    std::string_view library; ///< the preloaded file, for the proof; empty for none
};
[[nodiscard]] std::vector<std::string> worker_arguments(const worker_job& job, const parameters& options);

/// One measured figure.
struct measured_value {
    std::string metric, variant, unit;
    better sense;
    double value;
};
struct measured_list {
    std::string name, variant, unit;
    std::vector<std::int64_t> values;
    enum : std::uint8_t { the_same, a_sample } in_each_round = the_same; ///< a_sample: from recorder::course()
};
struct worker_findings {
    std::vector<measured_value> values;
    std::vector<measured_list> lists;
    std::vector<std::string> notes;
    std::string failure; ///< empty when the data read back was correct and the allocator is proven
    std::string proof;
};

/// Parses a worker's message; nothing when it is incomplete.
[[nodiscard]] std::optional<worker_findings> parse_findings(std::string_view message);

/// For main(): when the command line is that of a worker or a probe, does the work and returns the exit code. A worker
/// ends the process itself, without running static destructors.
[[nodiscard]] std::optional<int> run_if_worker(int argc, char** argv, std::span<const experiment> experiments);

}
