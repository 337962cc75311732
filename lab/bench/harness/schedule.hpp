// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs an experiment: a process per contestant, part and round, in shuffled paired rounds.
///
/// The machine's speed drifts by a factor of two between minutes, so only measurements close in time are comparable.
/// Within a round the parts are shuffled, and within a part all contestants run one after the other, shuffled again.
/// Ratios are computed per round.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/experiment.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

/// A row of the tables: a contestant, with its malloc.
struct measured_row {
    std::string name;
    std::string peer; ///< whose code it is, empty for ours; for a row on a malloc, that malloc
    std::string version, kind, note;
    contestant_role role = contestant_role::peer;
    std::string missing; ///< why it cannot run; empty when it can
    std::string library; ///< the preloaded file; empty for none
    std::size_t source = 0, contestant = 0;
    std::uint64_t parts = 0;
    std::span<const std::string_view> environment; ///< "NAME=VALUE" for its processes
    bool runs_on_malloc = false;                   ///< its allocator is the process's malloc
};

/// Every row of an experiment, in the order of its sources. A contestant that uses the process's malloc becomes one row
/// per malloc.
[[nodiscard]] std::vector<measured_row> list_rows(const experiment& chosen, std::span<const found_malloc> mallocs,
                                                  std::span<const library_peer> libraries);

inline constexpr std::uint64_t run_all_parts = ~std::uint64_t{0};

struct run_settings {
    std::uint32_t rounds = 7;
    std::uint64_t seed = 1;
    std::chrono::milliseconds timeout{60'000};
    std::uint64_t parts = run_all_parts; ///< bit i: part i runs
};

/// Runs the measured_rows. `settings.parts` is recorded in the result's parameters unless it selects all. A worker that
/// crashes, exceeds its time limit, fails its verification or is not proven fails its row, which then has the reason
/// and no numbers. After an interrupt the rows contain the finished rounds.
[[nodiscard]] experiment_result run_experiment(const experiment& chosen, const parameters& options,
                                               std::span<const measured_row> measured_rows,
                                               const run_settings& settings);

}
