// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Plans in a file that worker processes inherit and map: they start without reading the trace again.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "observe/replay/plan/replay_plan.hpp"

namespace tenure::lab {

/// A plan as it lies in a file.
struct plan_view {
    std::span<const plan_op> ops;
    std::span<const plan_thread> threads;
    std::span<const plan_route> routes;
    std::span<const plan_place> places;
    std::span<const std::uint32_t> neighbours;
    std::uint64_t slot_count = 0, shared_slot_count = 0, calls = 0, peak_op = 0, peak_bytes = 0;

    [[nodiscard]] std::span<const plan_op> of_thread(std::size_t index) const {
        return ops.subspan(threads[index].first, threads[index].count);
    }
    /// Frees what the program had in use at its end.
    [[nodiscard]] std::span<const plan_op> tail_of(std::size_t index) const {
        return ops.subspan(threads[index].first + threads[index].count, threads[index].tail);
    }
};

/// A plan in memory, without a file.
[[nodiscard]] plan_view view_of(const replay_plan& plan);

/// A file without a name that holds plans. It ends with the object.
class plan_file {
public:
    plan_file() = default;
    ~plan_file();
    plan_file(plan_file&& other) noexcept;
    plan_file(const plan_file&) = delete;
    plan_file& operator=(const plan_file&) = delete;

    /// Writes the plans. Returns   why that failed, in a sentence; empty when it did not.
    [[nodiscard]] std::string write(std::span<const replay_plan* const> plans);

    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_ = -1;
};

/// Maps a file of plan_file::write(). The mapping stays until the process ends; no page of it faults later.
/// Returns   the plans; none when the descriptor is not such a file.
[[nodiscard]] std::vector<plan_view> map_plans(int descriptor);

}
