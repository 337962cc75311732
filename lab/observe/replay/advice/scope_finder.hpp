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
    /// Requires  both outlive the object.
    scope_finder(const trace& recorded, const block_group& group, std::span<const block_life> lives)
        : recorded_(recorded), group_(group), lives_(lives) {}

    /// The innermost frame of the group's stack (0 is the allocating function) whose function the thread does not leave
    /// from a burst's first allocation to its last free: it can open the scope. `no_frame`: there is none among the
    /// frames that all blocks of the group have in common.
    ///
    /// Where frees have no stack, the scope lasts until the thread's next event that has one.
    /// Two calls of a function from the same place look the same, so a block that survives one call and is freed in the
    /// next is not seen.
    /// Cost      O(events of the burst).
    [[nodiscard]] std::size_t frame_of(const group_burst& burst);

    static constexpr std::size_t no_frame = ~std::size_t{0};

private:
    [[nodiscard]] std::size_t shared(std::uint32_t stack, std::uint32_t other);

    const trace& recorded_;
    const block_group& group_;
    std::span<const block_life> lives_;
    std::unordered_map<std::uint64_t, std::size_t> known_; // by both stacks
};

}
