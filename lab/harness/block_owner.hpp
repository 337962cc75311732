// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whom the proof asks about blocks that are alive, when it is not the process's malloc.
///
/// An adaptor that can be asked has `owns(block) const`; one that can only count has `alive() const`. Either has the
/// constant `query`, which says by which call of the allocator's own the answer is had. One that stands in front of
/// another hands on that one's `owner()`.

#include <cstddef>
#include <string_view>

namespace tenure::lab {

struct block_owner {
    std::string_view query{};    ///< "block_pool::owns"; empty: it cannot be asked
    const void* asked = nullptr; ///< handed to the calls below
    bool (*owns)(const void* asked, const void* block) = nullptr;
    std::size_t (*alive)(const void* asked) = nullptr; ///< blocks that it counts as given out
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
