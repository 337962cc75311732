// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A region's timeline as far as a picture can show it: neighbouring waits in one mark, and the stretch that is worth
/// a closer look.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "watch/findings.hpp"

namespace tenure::lab {

/// What a wait is for, in as few kinds as colours and patterns can tell apart.
enum class wait_kind : std::uint8_t { lock, runtime, heap, mapping, c_library, input, sleep };
constexpr std::size_t wait_kinds = 7;

[[nodiscard]] wait_kind wait_kind_of(hook::call_group group);

/// "a lock", "OpenMP or TBB": for a legend.
[[nodiscard]] std::string_view words_of(wait_kind kind);

/// A part of the time since the process began.
struct stretch {
    double first_ns = 0, last_ns = 0;
    [[nodiscard]] double ns() const { return last_ns - first_ns; }
};

/// From the first thing in the timeline to the last; both 0 when there is none.
[[nodiscard]] stretch whole_stretch(const watched_region& region);

/// The `share` of the whole in which the most waits are; of several, the one that they fill most. Finds it to a tenth
/// of its length.
[[nodiscard]] stretch densest_stretch(const watched_region& region, stretch whole, double share);

/// One wait, or several that lie in one column of the picture: together they are as long as each for itself.
struct timeline_mark {
    wait_kind kind{};
    double first_ns = 0; ///< where the first begins
    double wait_ns = 0;  ///< all of them
    double longest_ns = 0;
    std::uint64_t count = 0;
    std::size_t site = 0; ///< the longest one's; npos when the region has no such site
};

/// A thread's part of the picture.
struct timeline_lane {
    const timeline_thread* thread = nullptr;
    std::vector<timeline_stay> stays;
    std::vector<timeline_mark> marks;
};

struct drawn_timeline {
    stretch shown;
    double column_ns = 0; ///< waits of one kind that begin in one column are one mark, unless longer than a column
    std::vector<timeline_lane> lanes;
    std::size_t left_out = 0; ///< threads, those that waited least
    std::uint64_t thinned = 0;
    bool is_merged = false; ///< some mark is more than one wait, or less than a column wide
};

/// How large a picture may become.
struct timeline_limits {
    std::size_t columns = 1800;
    std::size_t lanes = 48;
    std::size_t marks = 3000; ///< and as many stays; columns are made wider until it holds
};

/// Cut to `shown`. Whatever the limits, the sum of the marks' waits is that of the lanes' waits.
[[nodiscard]] drawn_timeline lay_out_timeline(const watched_region& region, stretch shown,
                                              const timeline_limits& limits);

}
