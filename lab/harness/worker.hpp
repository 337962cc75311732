// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The other side: one contestant measures one part, then says what it found.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/experiment.hpp"

namespace tenure::lab {

inline constexpr std::string_view worker_command = "measure-one";

/// What the parent asks of a worker, as a command line: it is read without the heap.
struct worker_job {
    std::string_view experiment;
    std::size_t source;     ///< which of the experiment's sources
    std::size_t contestant; ///< which contestant of that source
    std::size_t part;
    std::uint64_t seed;
    std::string_view library; ///< preloaded, for the proof; empty: none
};
[[nodiscard]] std::vector<std::string> worker_arguments(const worker_job& job, const parameters& options);

/// One figure, one list, and everything else that came back.
struct measured_value {
    std::string metric, variant, unit;
    better sense;
    double value;
};
struct measured_list {
    std::string name, variant, unit;
    std::vector<std::int64_t> values;
};
struct worker_findings {
    std::vector<measured_value> values;
    std::vector<measured_list> lists;
    std::vector<std::string> notes;
    std::string failure; ///< empty: what was written was read back, and the allocator is proven
    std::string proof;
};

/// Reads a worker's message; nothing when it is not whole.
[[nodiscard]] std::optional<worker_findings> parse_findings(std::string_view message);

/// For main(): when the command line is that of a worker or a probe, does what it asks and returns the exit code.
/// Never returns to a worker's caller with static destructors still to run: it ends the process itself.
[[nodiscard]] std::optional<int> run_if_worker(int argc, char** argv, std::span<const experiment> experiments);

}
