// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/advice/stack_relations.hpp"

#include <algorithm>
#include <vector>

namespace tenure::lab {

/// Whether a stack may lack its outer frames: then nothing says which of them others share.
bool stack_relations::is_cut_short(std::uint32_t stack) const {
    return recorded_.stack_frames != 0 && recorded_.stacks[stack].frames.size() >= recorded_.stack_frames;
}

const stack_relation& stack_relations::of(std::uint32_t stack, std::uint32_t other) {
    const auto [found, is_new] = known_.try_emplace(std::uint64_t{stack} << 32 | other);
    stack_relation& made = found->second;
    if (!is_new) return made;
    const std::vector<std::uint64_t>& own = recorded_.stacks[stack].frames;
    const std::vector<std::uint64_t>& others = recorded_.stacks[other].frames;
    if (stack != other && (is_cut_short(stack) || is_cut_short(other))) return made;
    const std::size_t least = std::min(own.size(), others.size());
    while (made.shared < least && own[own.size() - 1 - made.shared] == others[others.size() - 1 - made.shared])
        ++made.shared;
    if (made.shared == least) return made;
    made.own = own[own.size() - 1 - made.shared];
    made.other = others[others.size() - 1 - made.shared];
    made.is_other_function = false;
    if (!functions_) return made;
    const std::uint64_t function = functions_(made.own);
    made.is_other_function = function == 0 || function != functions_(made.other);
    return made;
}

}
