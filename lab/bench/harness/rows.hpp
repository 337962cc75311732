// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Collects workers' replies into the rows of a result.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/schedule.hpp"
#include "bench/harness/worker/process.hpp"
#include "bench/harness/worker/worker.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

class row_builder {
public:
    row_builder(std::span<const measured_row> measured_rows, std::span<const part> parts, std::uint32_t rounds);

    /// Adds a worker's reply for one part in one round. The row fails when the worker failed, and when a figure or a
    /// list has the metric and variant of another one, because nobody could tell them apart.
    void add(std::size_t index, std::uint32_t round, std::size_t part, const worker_reply& reply);

    /// Records that the row is left out of a part, with a reason for the reader.
    void leave_out(std::size_t index, std::size_t part, std::string_view reason);
    /// Records that no selected part is left for the row.
    void has_no_part(std::size_t index);

    [[nodiscard]] bool has_failed(std::size_t index) const { return rows_[index].made.state == outcome::failed; }

    /// The largest number of rounds that any figure has a number for.
    [[nodiscard]] std::uint32_t rounds_held() const;

    /// The rows, with a sample for each round that was started. Rows that failed or are missing have no numbers.
    [[nodiscard]] std::vector<contestant_result> take(std::uint32_t rounds_begun);

private:
    /// Parts run in shuffled order; the columns are in the order of the parts.
    struct row {
        contestant_result made;
        std::vector<std::vector<metric>> metrics;        ///< by part
        std::vector<std::vector<series>> lists;          ///< by part
        std::vector<std::vector<measured_list>> courses; ///< by part, of all rounds
    };

    void fail(row& failed, std::uint32_t round, std::size_t part, const std::string& reason);
    void add_findings(row& into, std::uint32_t round, std::size_t part, const worker_findings& found);

    std::uint32_t rounds_;
    std::span<const part> parts_;
    std::vector<row> rows_;
};

}
