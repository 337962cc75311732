// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A baseline: the places of a program that are known to allocate, free, lock or wait, in a file beside its tests, so
/// that CI fails only for other places.
///
/// A place is identified by words that an edit elsewhere does not change: region, call, function and file, without
/// lines, addresses, folders, or suffixes that an optimiser appends to names. Two calls of one function inside one
/// function are one place.
///
/// An allocation is a call that allocates or maps memory. A free is a call that releases it, also of a null pointer. A
/// lock is a call in a no-wait scope that takes a lock, free or not; elsewhere free locks have no recorded place. A
/// wait is a place whose total wait time in a region exceeds wait_threshold: every program waits a little, in different
/// places in each run, and that must not fail a build. In a no-wait scope every wait counts. A baseline contains waits
/// of any length, so that a wait that is only sometimes long is known.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "observe/watch/findings.hpp"

namespace tenure::lab {

enum class site_kind : std::uint8_t { allocation, wait, free, lock };

struct site_name {
    site_kind kind{};
    std::string region;
    std::string call;
    std::string function; ///< the program's own calling function; "?" when it has no name
    std::string place;    ///< its source file, or else its library, without folders; "?" when neither is known

    auto operator<=>(const site_name&) const = default;
};

using baseline = std::set<site_name>;

/// The kinds of sites that fail a build.
struct judged_kinds {
    bool allocation = true, wait = true, free = false, lock = false;
};

/// The total wait time from which a place counts: `ns` or `share` of the region's time, whichever is longer.
struct wait_threshold {
    double ns = 10'000;
    double share = 0.001;
};

/// Text for messages: "wait in pthread_mutex_lock by draw(int) (scene.cpp), region frame".
[[nodiscard]] std::string shown(const site_name& site);

/// Writes a baseline for a repository: an explanatory head, then one site per line, sorted, as five words separated by
/// tabs.
[[nodiscard]] std::string write_baseline(const findings& found);

/// Reads a baseline. Skips empty lines and lines that begin with '#', except the head of another format.
/// Fails     on the first invalid line: sets `error` to the line and the reason, and returns an empty baseline.
/// Otherwise `error` is empty.
[[nodiscard]] baseline read_baseline(std::string_view text, std::string& error);

/// Returns   the sites of the requested kinds that are not in the baseline; each once, sorted.
[[nodiscard]] std::vector<site_name> new_sites(const findings& found, const baseline& known, judged_kinds kinds,
                                               wait_threshold threshold = {});

}
