// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The guards behind the objects of an affinity group, in checked builds.
///
///     object    | bytes | fill ... | fill: 4 | bytes of the guard: 4 | fill: 8 |
///
/// A guard begins at the object's last byte and has at least 16 bytes. The number in it tells where, so that a free
/// without the size, the end of the group and the free of a neighbour can look at all of it. A write of up to 4 bytes
/// past the end, or of up to 8 in front of the next object, leaves the number whole.

#include <cstddef>

#include <tenure/affinity/detail/affinity_sizes.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/min_max.hpp>
#include <tenure/engine/tail_guard.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// The largest object in a page. One of this rounded size has no guard.
constexpr std::size_t affinity_max_in_page_bytes = affinity_page_bytes / 4;

/// What an object takes: its rounded size, in checked builds with its guard. Without room for a guard, the largest.
[[nodiscard]] inline affinity_sizes::entry affinity_entry(const affinity_sizes& sizes, std::size_t bytes) noexcept {
    if constexpr (!checks::caller) return sizes.of(bytes);
    const std::size_t guarded_bytes = max_of<std::size_t>(bytes, 1) + tail_guard_bytes;
    if (guarded_bytes < affinity_max_in_page_bytes) {
        const affinity_sizes::entry guarded = sizes.of(guarded_bytes);
        if (guarded.bytes < affinity_max_in_page_bytes) return guarded;
    }
    return sizes.of(affinity_max_in_page_bytes);
}

/// `whole_bytes` are those of the object with its guard, here and below.
void set_affinity_guard(unsigned char* object, std::size_t bytes, std::size_t whole_bytes) noexcept;

enum class affinity_finding : unsigned char {
    whole,         ///< nobody wrote to the guard
    overrun,       ///< someone wrote past the end of the object
    front_of_next, ///< someone wrote in front of what follows
};
struct affinity_look {
    affinity_finding found;
    std::size_t bytes; ///< the size that the object was allocated with; zero if it is not known
};
/// Looks at the guard of an object; one that someone wrote to is whole afterwards.
[[nodiscard]] affinity_look look_at_affinity_guard(unsigned char* object, std::size_t whole_bytes) noexcept;

}
