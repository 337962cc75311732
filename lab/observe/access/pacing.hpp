// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How often the sampler of accesses looks for processes, and how long it pauses.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenure::lab {

/// The time from one look for new processes to the next: short at the beginning and behind each that was found, because
/// more may follow, and then longer and longer.
class search_interval {
public:
    static constexpr std::uint64_t shortest_ns = 1'000'000, longest_ns = 100'000'000;

    /// `has_found`: whether the last look has found one, or one that is not ready yet.
    [[nodiscard]] std::uint64_t next_ns(bool has_found) {
        if (has_found) now_ns_ = shortest_ns;
        const std::uint64_t made_ns = now_ns_;
        now_ns_ = std::min(2 * now_ns_, longest_ns);
        return made_ns;
    }

private:
    std::uint64_t now_ns_ = shortest_ns;
};

/// How long several processes have run, by the clocks of each: one that ends takes nothing from the others.
class run_time {
public:
    /// `clocks_ns`: of each process, always in the same order, with new ones at the end; zero: it has ended.
    void add(std::span<const std::uint64_t> clocks_ns) {
        for (std::size_t index = 0; index < clocks_ns.size(); ++index) {
            if (index == before_ns_.size()) before_ns_.push_back(clocks_ns[index]);
            if (clocks_ns[index] <= before_ns_[index]) continue;
            total_ns_ += clocks_ns[index] - before_ns_[index];
            before_ns_[index] = clocks_ns[index];
        }
    }
    [[nodiscard]] std::uint64_t total_ns() const { return total_ns_; }

private:
    std::vector<std::uint64_t> before_ns_;
    std::uint64_t total_ns_ = 0;
};

}
