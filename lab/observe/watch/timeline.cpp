// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tenure::lab {

namespace {

using hook::call_group;

constexpr std::size_t no_site = std::numeric_limits<std::size_t>::max();

/// The part of a wait that is inside the stretch.
struct cut_wait {
    double first_ns, last_ns;
    std::size_t site;
    wait_kind kind;
};

/// The waits that overlap a stretch, cut to it, sorted by their begin.
std::vector<cut_wait> cut_waits(const watched_region& region, const timeline_thread& thread, stretch shown) {
    std::vector<cut_wait> cut;
    for (const timeline_wait& each : thread.waits) {
        const double first = std::max(each.first_ns, shown.first_ns);
        const double last = std::min(each.last_ns, shown.last_ns);
        if (!(first <= last)) continue;
        const bool is_known = each.site < region.sites.size();
        const wait_kind kind =
            is_known ? wait_kind_of(hook::info(region.sites[each.site].call).group) : wait_kind::lock;
        cut.push_back({first, last, is_known ? each.site : no_site, kind});
    }
    std::stable_sort(cut.begin(), cut.end(),
                     [](const cut_wait& left, const cut_wait& right) { return left.first_ns < right.first_ns; });
    return cut;
}

std::vector<timeline_mark> merge(const std::vector<cut_wait>& waits, stretch shown, double column_ns) {
    std::vector<timeline_mark> marks;
    struct open_mark {
        std::size_t index = no_site;
        double column = -1;
    };
    std::array<open_mark, wait_kinds> open{}; // the last mark of each kind, which others may join
    for (const cut_wait& each : waits) {
        const double ns = each.last_ns - each.first_ns;
        const double column = column_ns > 0 ? std::floor((each.first_ns - shown.first_ns) / column_ns) : -1;
        open_mark& last = open[static_cast<std::size_t>(each.kind)];
        const bool is_short = ns < column_ns || !(ns > 0);
        if (is_short && last.index != no_site && last.column == column) {
            timeline_mark& joined = marks[last.index];
            joined.wait_ns += ns;
            ++joined.count;
            if (ns > joined.longest_ns) {
                joined.longest_ns = ns;
                joined.site = each.site;
            }
            continue;
        }
        marks.push_back({each.kind, each.first_ns, ns, ns, 1, each.site});
        if (is_short) last = {marks.size() - 1, column};
    }
    return marks;
}

/// Cuts stays to the stretch and merges those with less than half a column between them.
std::vector<timeline_stay> merge_stays(std::vector<timeline_stay> stays, stretch shown, double column_ns) {
    std::sort(stays.begin(), stays.end(),
              [](const timeline_stay& left, const timeline_stay& right) { return left.first_ns < right.first_ns; });
    std::vector<timeline_stay> merged;
    for (const timeline_stay& each : stays) {
        const double first = std::max(each.first_ns, shown.first_ns);
        const double last = std::min(each.last_ns, shown.last_ns);
        if (!(first <= last)) continue;
        if (!merged.empty() && first - merged.back().last_ns < column_ns / 2) {
            merged.back().last_ns = std::max(merged.back().last_ns, last);
        } else {
            merged.push_back({first, last});
        }
    }
    return merged;
}

/// The threads to draw: all, or those that waited longest, in their original order.
std::vector<const timeline_thread*> drawn_threads(const watched_region& region, std::size_t most) {
    std::vector<std::size_t> order(region.timeline.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.size() > most) {
        std::vector<double> waited;
        for (const timeline_thread& each : region.timeline) {
            double sum = 0;
            for (const timeline_wait& wait : each.waits) sum += wait.last_ns - wait.first_ns;
            waited.push_back(sum);
        }
        std::stable_sort(order.begin(), order.end(),
                         [&waited](std::size_t left, std::size_t right) { return waited[left] > waited[right]; });
        order.resize(most);
        std::sort(order.begin(), order.end());
    }
    std::vector<const timeline_thread*> threads;
    threads.reserve(order.size());
    for (const std::size_t index : order) threads.push_back(&region.timeline[index]);
    return threads;
}

bool shows_waits_singly(const drawn_timeline& drawn) {
    for (const timeline_lane& lane : drawn.lanes) {
        for (const timeline_mark& mark : lane.marks) {
            if (mark.count > 1 || mark.wait_ns < drawn.column_ns) return false;
        }
    }
    return true;
}

}

wait_kind wait_kind_of(call_group group) {
    switch (group) {
    case call_group::allocation:
    case call_group::release: return wait_kind::heap;
    case call_group::mapping: return wait_kind::mapping;
    case call_group::sleep: return wait_kind::sleep;
    case call_group::input: return wait_kind::input;
    case call_group::format:
    case call_group::stream:
    case call_group::library: return wait_kind::c_library;
    case call_group::runtime: return wait_kind::runtime;
    case call_group::lock:
    case call_group::control: break;
    }
    return wait_kind::lock;
}

std::string_view words_of(wait_kind kind) {
    constexpr std::array<std::string_view, wait_kinds> words{
        "a lock, another thread",  "OpenMP or TBB",
        "the heap's lock",         "the kernel's lock of the address space",
        "a lock of the C library", "files, sockets, processes",
        "asleep by its own call"};
    return words[static_cast<std::size_t>(kind)];
}

stretch whole_stretch(const watched_region& region) {
    constexpr double none = std::numeric_limits<double>::infinity();
    stretch whole{none, -none};
    const auto add = [&whole](double first, double last) {
        if (!std::isfinite(first) || !std::isfinite(last)) return;
        whole.first_ns = std::min(whole.first_ns, first);
        whole.last_ns = std::max(whole.last_ns, last);
    };
    for (const timeline_thread& thread : region.timeline) {
        for (const timeline_stay& each : thread.stays) add(each.first_ns, each.last_ns);
        for (const timeline_wait& each : thread.waits) add(each.first_ns, each.last_ns);
    }
    return whole.first_ns <= whole.last_ns ? whole : stretch{};
}

stretch densest_stretch(const watched_region& region, stretch whole, double share) {
    constexpr std::size_t per_stretch = 10;
    if (!(whole.ns() > 0) || !(share > 0) || share >= 1) return whole;
    const double bin_ns = whole.ns() * share / static_cast<double>(per_stretch);
    const auto bins = static_cast<std::size_t>(std::llround(whole.ns() / bin_ns));
    std::vector<double> begun(bins + 1), waited(bins + 1); // sums of all earlier bins
    for (const timeline_thread& thread : region.timeline) {
        for (const cut_wait& each : cut_waits(region, thread, whole)) {
            const auto bin = static_cast<std::size_t>((each.first_ns - whole.first_ns) / bin_ns);
            const std::size_t place = std::min(bin, bins - 1) + 1;
            begun[place] += 1;
            waited[place] += std::min(each.last_ns - each.first_ns, bin_ns);
        }
    }
    std::partial_sum(begun.begin(), begun.end(), begun.begin());
    std::partial_sum(waited.begin(), waited.end(), waited.begin());
    std::size_t best = 0;
    double most = -1, longest = -1;
    for (std::size_t at = 0; at + per_stretch <= bins; ++at) {
        const double count = begun[at + per_stretch] - begun[at];
        const double ns = waited[at + per_stretch] - waited[at];
        if (count < most || (count == most && ns <= longest)) continue;
        best = at;
        most = count;
        longest = ns;
    }
    const double first = whole.first_ns + static_cast<double>(best) * bin_ns;
    return {first, std::min(first + bin_ns * static_cast<double>(per_stretch), whole.last_ns)};
}

drawn_timeline lay_out_timeline(const watched_region& region, stretch shown, const timeline_limits& limits) {
    drawn_timeline drawn;
    drawn.shown = shown;
    const std::vector<const timeline_thread*> threads = drawn_threads(region, limits.lanes);
    drawn.left_out = region.timeline.size() - threads.size();
    for (const timeline_thread& each : region.timeline) drawn.thinned += each.thinned;
    std::vector<std::vector<cut_wait>> waits;
    waits.reserve(threads.size());
    for (const timeline_thread* thread : threads) waits.push_back(cut_waits(region, *thread, shown));
    for (std::size_t columns = std::max<std::size_t>(limits.columns, 1);; columns = columns * 3 / 4) {
        drawn.column_ns = shown.ns() / static_cast<double>(columns);
        drawn.lanes.clear();
        std::size_t marks = 0, stays = 0;
        for (std::size_t index = 0; index < threads.size(); ++index) {
            drawn.lanes.push_back({threads[index], merge_stays(threads[index]->stays, shown, drawn.column_ns),
                                   merge(waits[index], shown, drawn.column_ns)});
            marks += drawn.lanes.back().marks.size();
            stays += drawn.lanes.back().stays.size();
        }
        if ((marks <= limits.marks && stays <= limits.marks) || columns == 1) break;
    }
    drawn.is_merged = !shows_waits_singly(drawn);
    return drawn;
}

}
