// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What workers said, gathered into the rows of a result.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/process.hpp"
#include "harness/rounds.hpp"
#include "harness/worker.hpp"
#include "report/result.hpp"

namespace tenure::lab {

class row_builder {
public:
    row_builder(std::span<const measured_row> measured_rows, std::span<const part> parts, std::uint32_t rounds);

    /// A worker's reply to one part in one round. The row fails when the worker did, and when a figure or a list has
    /// the metric and variant of another one: nobody could tell them apart.
    void add(std::size_t index, std::uint32_t round, std::size_t part, const worker_reply& reply);

    /// The row takes no part in a part, for a reason that a reader is told.
    void leave_out(std::size_t index, std::size_t part, std::string_view reason);
    /// The row has nothing to run, of what was chosen and not left out.
    void has_no_part(std::size_t index);

    [[nodiscard]] bool has_failed(std::size_t index) const { return rows_[index].made.state == outcome::failed; }

    /// The most rounds that any figure has a number of.
    [[nodiscard]] std::uint32_t rounds_held() const;

    /// The rows, with a sample for each round that was begun; those that failed or are missing have no numbers.
    [[nodiscard]] std::vector<contestant_result> take(std::uint32_t rounds_begun);

private:
    /// Parts run in shuffled order; columns stand in the order of the parts.
    struct row {
        contestant_result made;
        std::vector<std::vector<metric>> metrics; ///< by part
        std::vector<std::vector<series>> lists;   ///< by part
    };

    void fail(row& failed, std::uint32_t round, std::size_t part, const std::string& reason);
    void add_findings(row& into, std::uint32_t round, std::size_t part, const worker_findings& found);

    std::uint32_t rounds_;
    std::span<const part> parts_;
    std::vector<row> rows_;
};

}
