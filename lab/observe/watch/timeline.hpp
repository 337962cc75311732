// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A region's timeline in a form that a picture can show: neighbouring waits are merged into one mark, and the densest
/// stretch is found for a closer look.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "observe/watch/findings.hpp"

namespace tenure::lab {

/// What a wait is for, in few enough kinds for colours and patterns to distinguish.
enum class wait_kind : std::uint8_t { lock, runtime, heap, mapping, c_library, input, sleep };
constexpr std::size_t wait_kinds = 7;

[[nodiscard]] wait_kind wait_kind_of(hook::call_group group);

/// "a lock, another thread", "OpenMP or TBB": for a legend.
[[nodiscard]] std::string_view words_of(wait_kind kind);

/// A period; times count from the process's begin.
struct stretch {
    double first_ns = 0, last_ns = 0;
    [[nodiscard]] double ns() const { return last_ns - first_ns; }
};

/// From the first entry of the timeline to the last; both 0 when it is empty.
[[nodiscard]] stretch whole_stretch(const watched_region& region);

/// The stretch with `share` of the whole length that has the most waits; of several, the one with the longest total
/// wait time. Its position is accurate to a tenth of its length.
[[nodiscard]] stretch densest_stretch(const watched_region& region, stretch whole, double share);

/// One wait, or several in one column of the picture. A mark is as long as its waits together.
struct timeline_mark {
    wait_kind kind{};
    double first_ns = 0; ///< begin of the first wait
    double wait_ns = 0;  ///< total of all its waits
    double longest_ns = 0;
    std::uint64_t count = 0;
    std::size_t site = 0; ///< of the longest wait; npos when the region has no such site
};

/// A thread's part of the picture.
struct timeline_lane {
    const timeline_thread* thread = nullptr;
    std::vector<timeline_stay> stays;
    std::vector<timeline_mark> marks;
};

struct drawn_timeline {
    stretch shown;
    double column_ns = 0; ///< waits of one kind that begin in one column share a mark, unless longer than a column
    std::vector<timeline_lane> lanes;
    std::size_t left_out = 0; ///< threads that are not drawn; they waited least
    std::uint64_t thinned = 0;
    bool is_merged = false; ///< some mark is more than one wait, or is narrower than a column
};

/// Limits for the size of a picture.
struct timeline_limits {
    std::size_t columns = 1800;
    std::size_t lanes = 48;
    std::size_t marks = 3000; ///< and of stays; columns are widened until both hold
};

/// Lays out the part of the timeline in `shown`. Whatever the limits, the marks' total wait time equals that of the
/// drawn lanes' waits.
[[nodiscard]] drawn_timeline lay_out_timeline(const watched_region& region, stretch shown,
                                              const timeline_limits& limits);

}
