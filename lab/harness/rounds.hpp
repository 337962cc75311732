// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// An experiment, run: a process per contestant, part and round, in shuffled paired rounds.
///
/// The machine drifts by a factor of two between minutes, so only neighbours in time compare: within a round the parts
/// are shuffled, and within a part all contestants run one after the other, shuffled again. Ratios are taken per round.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/experiment.hpp"
#include "harness/peers.hpp"
#include "report/result.hpp"

namespace tenure::lab {

/// A contestant with the malloc that it runs on: a row of the tables.
struct measured_row {
    std::string name;
    std::string peer; ///< whose code it is, empty for ours; for a row on a malloc, that malloc
    std::string version, kind, note;
    std::string missing; ///< why it cannot run; empty: it can
    std::string library; ///< preloaded; empty: none
    std::size_t source = 0, contestant = 0;
    std::uint64_t parts = 0;
    bool runs_on_malloc = false; ///< its allocator is the process's malloc
};

/// Every row of an experiment, in the order of its sources: contestants that take the process's malloc become one row
/// for each malloc.
[[nodiscard]] std::vector<measured_row> list_rows(const experiment& chosen, std::span<const found_malloc> mallocs,
                                                  std::span<const library_peer> libraries);

inline constexpr std::uint64_t run_all_parts = ~std::uint64_t{0};

struct run_settings {
    std::uint32_t rounds = 7;
    std::uint64_t seed = 1;
    std::chrono::milliseconds timeout{60'000};
    std::uint64_t parts = run_all_parts; ///< bit i: part i is run
};

/// Runs the measured_rows; `settings.parts` stands among the parameters of the result when it is not all of them. A
/// worker that crashes, takes too long, fails its verification or is not proven makes its row a failed one, with the
/// reason and without numbers. After an interrupt the rows hold the rounds that were finished.
[[nodiscard]] experiment_result run_experiment(const experiment& chosen, const parameters& options,
                                               std::span<const measured_row> measured_rows,
                                               const run_settings& settings);

}
