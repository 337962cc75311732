// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The places of a program that are known to allocate or to wait, in a file beside its tests, so that CI fails for
/// others only.
///
/// A place is named by what an edit elsewhere does not change: region, call, function and file, without lines,
/// addresses, folders, or what an optimiser appends to names. Two calls of one function in one function are one place.
///
/// An allocation is a call that takes or maps memory; frees are none. A wait is a place whose waits in one region are
/// longer in all than wait_threshold says: each program waits a little here and there, otherwise in each run, and that
/// shall fail no build. A baseline names waits of any length, so that one that is long only now and then is known.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "watch/findings.hpp"

namespace tenure::lab {

enum class site_kind : std::uint8_t { allocation, wait };

struct site_name {
    site_kind kind{};
    std::string region;
    std::string call;
    std::string function; ///< the program's own that calls; "?" when it has no name
    std::string place;    ///< its file, or else the library that it is in, without folders; "?" when neither is known

    auto operator<=>(const site_name&) const = default;
};

using baseline = std::set<site_name>;

/// Which kinds of sites a build fails for.
struct judged_kinds {
    bool allocation = true, wait = true;
};

/// Waits of a place count from here on: `ns`, or `share` of the region's time, whichever is longer.
struct wait_threshold {
    double ns = 10'000;
    double share = 0.001;
};

/// "wait in pthread_mutex_lock by draw(int) (scene.cpp), region frame", for messages.
[[nodiscard]] std::string shown(const site_name& site);

/// A text for a file in a repository: a head that says what it is, then one site a line, sorted, its five words
/// separated by tabs.
[[nodiscard]] std::string write_baseline(const findings& found);

/// Lines that are empty or begin with '#' are skipped, but for the head of another format.
/// Fails     with what is wrong in `error`, its line named, and returns nothing then; otherwise `error` is empty.
[[nodiscard]] baseline read_baseline(std::string_view text, std::string& error);

/// Sites of the kinds asked for that the baseline does not name; each once, sorted.
[[nodiscard]] std::vector<site_name> new_sites(const findings& found, const baseline& known, judged_kinds kinds,
                                               wait_threshold threshold = {});

}
