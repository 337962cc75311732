// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Finds where a scope can stand that ends after the blocks of a group: the innermost function in which everything
/// happens that the thread allocates and frees while they are in use.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "observe/replay/advice/block_groups.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

class scope_finder {
public:
    /// `group` has one stack. Requires  both outlive the object.
    scope_finder(const trace& recorded, const block_group& group) : recorded_(recorded), group_(group) {}

    /// How many outer frames of the group's stack are on the thread's stack all the time from a burst's first
    /// allocation to its last free. 0: the thread left them all, or the trace has no stacks.
    ///
    /// The function inside these frames can open the scope. Two calls of it from the same place look the same, so a
    /// block that survives one call and is freed in the next is not seen.
    /// Cost      O(events of the burst).
    [[nodiscard]] std::size_t outer_frames(const group_burst& burst);

private:
    [[nodiscard]] std::size_t shared_with(std::uint32_t stack);

    const trace& recorded_;
    const block_group& group_;
    std::unordered_map<std::uint32_t, std::size_t> known_; // by stack
};

}
