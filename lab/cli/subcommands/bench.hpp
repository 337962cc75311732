// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure bench`: runs experiments, or compares two earlier results.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/harness/experiment.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

/// The options as given on the command line, before names are looked up.
struct bench_request {
    std::vector<std::string> against, only, parts, compare;
    std::uint32_t rounds = 7;
    std::uint64_t seed = 0;      ///< 0: pick one for each run; the result records the seed used
    std::uint32_t timeout_s = 0; ///< 0: 60, or 900 with --full
    bool full = false, json = false;
    std::string out;
};

class bench_command {
public:
    explicit bench_command(CLI::App& app);

    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run(int argc, char** argv);

private:
    struct experiment_command {
        CLI::App* command;
        std::map<std::string, std::int64_t> given; ///< options given on the command line
        std::string input;                         ///< a file; empty when none was given
        int descriptor = -1;                       ///< of the memory that holds the file's contents
    };

    void add_options();
    void add_experiment(const experiment& described);
    [[nodiscard]] parameters options_of(std::size_t index) const;
    [[nodiscard]] std::vector<std::size_t> chosen_experiments() const;
    [[nodiscard]] std::string refuse_beside_compare() const;
    [[nodiscard]] std::string refuse_values() const;
    [[nodiscard]] std::string read_inputs();
    [[nodiscard]] std::string take_parts_of_input(std::size_t index, std::uint64_t& parts) const;
    [[nodiscard]] std::string refuse_parts(std::size_t index, std::uint64_t parts) const;
    [[nodiscard]] int run_chosen(result& found);

    CLI::App* command_;
    bench_request request_;
    bool printed_ = true;                                          ///< whether all output was written
    bool named_are_there_ = true;                                  ///< whether every experiment requested by name ran
    std::vector<std::unique_ptr<experiment_command>> experiments_; ///< by index in experiments()
};

}
