// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Tells the proof whom to ask about live blocks when the allocator is not the process's malloc.
///
/// An adaptor that can be asked has `owns(block) const`; one that can only count has `alive() const`. Both have the
/// constant `query`, which names the allocator's own call that gives the answer. An adaptor in front of another one
/// returns that one's `owner()`.

#include <cstddef>
#include <string_view>

namespace tenure::lab {

struct block_owner {
    std::string_view query{};    ///< "block_pool::owns"; empty when it cannot be asked
    const void* asked = nullptr; ///< passed to the calls below
    bool (*owns)(const void* asked, const void* block) = nullptr;
    std::size_t (*alive)(const void* asked) = nullptr; ///< number of blocks that it counts as allocated
};

template<class Adaptor>
[[nodiscard]] block_owner owner_of(const Adaptor& asked) {
    block_owner made;
    made.asked = &asked;
    if constexpr (requires { asked.owner(); }) {
        made = asked.owner();
    } else if constexpr (requires(const void* block) { asked.owns(block); }) {
        made.query = Adaptor::query;
        made.owns = [](const void* self, const void* block) { return static_cast<const Adaptor*>(self)->owns(block); };
    } else if constexpr (requires { asked.alive(); }) {
        made.query = Adaptor::query;
        made.alive = [](const void* self) { return static_cast<const Adaptor*>(self)->alive(); };
    }
    return made;
}

}
