// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The scopes of Temp that hold the blocks of a group: learned on the first half of its bursts, checked on the second.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "observe/replay/advice/scope_finder.hpp"
#include "observe/replay/plan/replay_plan.hpp"

namespace tenure::lab {

/// Where a scope begins and ends that frees the blocks.
enum class scope_place : std::uint8_t {
    unknown,
    frame,    ///< the frame: tn_next_frame() ends it
    function, ///< a function on the group's stack: lifetime_advice::scope_frame
    phase,    ///< a phase of the program, between two marks
};

/// What the trace shows of a scope in a function. It is never certain: free_places.hpp.
enum class scope_proof : std::uint8_t {
    allocations,    ///< the function goes on to allocate further ahead; where the blocks are freed is not known
    frees,          ///< it frees the blocks, or calls what frees them
    separate_calls, ///< and between two scopes the thread is always seen outside the call, so that each scope has a
                    ///< call of its own; only a loop around the call that is quiet until its last turn would look the
                    ///< same
};

inline constexpr std::uint64_t max_temp_bytes = 1 << 20; ///< of one scope; a thread's Temp has 4 MiB
inline constexpr std::uint64_t max_temp_events = 20'000; ///< of one scope

struct temp_scopes {
    scope_place where = scope_place::unknown;
    std::size_t frame = 0;                        ///< scope_place::function: in the group's stack
    scope_proof proof = scope_proof::allocations; ///< of scope_place::function
    std::vector<temp_scope_time> all;             ///< in the order of the trace
    std::uint64_t learned_on = 0, checked_on = 0; ///< blocks
    std::uint64_t longest = 0;                    ///< events of the longest scope
    std::string refusal;                          ///< why there are none, in a sentence; empty when there are
};

/// Requires  one thread allocates the blocks, and frees all that are freed.
/// Cost      O(events of the scopes).
[[nodiscard]] temp_scopes temp_scopes_of(const trace& recorded, const block_group& group,
                                         std::span<const block_life> lives, const code_functions& functions);

/// Whether a block of the group is allocated in one of the scopes, on its thread, and is in use after it. A block comes
/// from the innermost scope that is open, so it would end with that of the other group.
[[nodiscard]] bool outlives(const block_group& group, std::span<const block_life> lives,
                            std::span<const temp_scope_time> scopes);

/// Scopes of several groups, as a thread can have them open: one that begins in another and ends after it is divided at
/// the other's end. No block is in use there, or the groups do not go together: see outlives().
[[nodiscard]] std::vector<temp_scope_time> nested(std::vector<temp_scope_time> scopes);

}
