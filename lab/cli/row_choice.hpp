// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Who takes part: everybody that is found here, less or more by --against and --only.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/rounds.hpp"

namespace tenure::lab {

class row_choice {
public:
    /// Looks for every peer on this machine. `against`: names of peers, and files with a malloc or
    /// an allocator of offsets; `only`: names of rows,
    /// beside which whoever `against` names takes part.
    row_choice(std::vector<std::string> against, std::vector<std::string> only);

    /// The rows of an experiment, of which only some parts are run (bit i: part i); none when --only names nobody of
    /// it. Who takes no part in those is no row, unless --only names it.
    [[nodiscard]] std::vector<measured_row> of(const experiment& chosen, std::uint64_t parts);

    /// Why the request cannot be met, once every experiment has been asked for its rows; empty: it can.
    [[nodiscard]] std::string refusal() const;

private:
    void add_file(const std::string& path);
    [[nodiscard]] bool wanted(const experiment& chosen, const measured_row& row) const;
    [[nodiscard]] bool is_opponent(const measured_row& row, const std::string& peer) const;

    std::vector<std::string> peers_; ///< of --against, those that are no files
    std::vector<std::string> only_;
    std::vector<std::string> seen_; ///< names of all rows, for the answer to an unknown one
    std::vector<found_malloc> mallocs_;
    std::vector<library_peer> libraries_;
    std::string refusal_;
};

/// Whether a word of --against is meant as a file: it has a slash, or .so in it.
[[nodiscard]] bool names_a_file(const std::string& word);

}
