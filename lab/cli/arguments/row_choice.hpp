// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Selects the contestants: all that are found, changed by --against and --only.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/schedule.hpp"

namespace tenure::lab {

/// Which peers --against may name.
enum class peer_kind : std::uint8_t {
    any,
    malloc, ///< those that can take the place of a program's malloc
};

class row_choice {
public:
    /// Looks for every peer on this machine.
    /// `against` holds names of peers, and files with a malloc or an offset allocator. `only` holds names of rows; the
    /// peers in `against` take part as well.
    row_choice(std::vector<std::string> against, std::vector<std::string> only, peer_kind allowed = peer_kind::any);

    /// The rows of an experiment, of which only some parts run (bit i: part i). Empty when --only names none of them. A
    /// contestant that takes no part in these is not a row, unless --only names it.
    [[nodiscard]] std::vector<measured_row> of(const experiment& chosen, std::uint64_t parts);

    /// Why the request cannot be met; empty when it can. Call it after of() was called for every experiment.
    [[nodiscard]] std::string refusal() const;

private:
    void add_file(const std::string& path);
    [[nodiscard]] bool wanted(const experiment& chosen, const measured_row& row) const;
    [[nodiscard]] bool is_opponent(const measured_row& row, const std::string& peer) const;

    std::vector<std::string> peers_; ///< the words of --against that are not files
    std::vector<std::string> only_;
    std::vector<std::string> seen_; ///< names of all rows, for the message about an unknown one
    std::vector<found_malloc> mallocs_;
    std::vector<library_peer> libraries_;
    std::string refusal_;
};

/// Whether a word of --against is a file: it contains a slash or .so.
[[nodiscard]] bool names_a_file(const std::string& word);

}
