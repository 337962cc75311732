// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which memory of Tenure fits a group of blocks. A rule is learned on the first half of the group and checked on the
/// second.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "observe/replay/advice/block_groups.hpp"
#include "observe/replay/advice/temp_scopes.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

enum class advice_kind : std::uint8_t { leave_alone, temp, temp_job, pool, shared_pool, arena, reserve };

[[nodiscard]] std::string_view name_of(advice_kind kind); ///< "TempJob", "leave alone"

[[nodiscard]] std::string_view with_article(advice_kind kind); ///< "TempJob", "an arena"

enum class confidence : std::uint8_t { low, medium, high };

[[nodiscard]] std::string_view name_of(confidence degree);

/// What a group could use.
struct lifetime_advice {
    advice_kind kind = advice_kind::leave_alone;
    scope_place where = scope_place::unknown;
    std::size_t scope_frame = 0; ///< scope_place::function: its frame in the group's stack; 0 is the innermost
    scope_proof proof = scope_proof::allocations;
    std::vector<temp_scope_time> scopes; ///< Temp, unless the frame ends it
    std::uint64_t room_bytes = 0;        ///< pools: size of a block; reserve: what to ask for at first
    std::uint8_t alignment_log2 = 4;
    std::uint64_t learned_on = 0; ///< blocks of the first half
    std::uint64_t checked_on = 0; ///< blocks of the second half
    std::uint64_t violations = 0; ///< of these, blocks that break the rule
    confidence degree = confidence::low;
    std::string why; ///< one sentence with the figures
};

/// Every kind of memory that a group could use, the one to prefer first. Those with violations that would be bugs are
/// not among them.
struct group_advice {
    std::vector<lifetime_advice> fits;
    std::string refusal; ///< why it fits nothing, or why the kind that seems to fit does not, in a sentence
};

/// With fewer blocks, chance decides.
inline constexpr std::uint64_t least_blocks = 64;

[[nodiscard]] group_advice advise(const trace& recorded, const block_group& group, std::span<const block_life> lives,
                                  const code_functions& functions = {});

}
