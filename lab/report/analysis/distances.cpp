// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/distances.hpp"

#include <algorithm>
#include <unordered_map>

namespace tenure::lab {

namespace {

/// The difference of two distances may overflow a signed integer. A double is precise enough for a plot.
double between(std::int64_t low, std::int64_t high) { return static_cast<double>(high) - static_cast<double>(low); }

std::vector<distance_view> summarized_distances(const experiment_result& found) {
    std::vector<distance_view> views;
    for (const distance_row& row : found.summarized->distances) {
        const auto who = std::find_if(found.contestants.begin(), found.contestants.end(),
                                      [&](const contestant_result& one) { return one.name == row.contestant; });
        if (who != found.contestants.end()) views.push_back({&*who, row.variants, nullptr, row.found});
    }
    return views;
}

}

std::vector<bucket> buckets_of(const std::vector<std::int64_t>& distances) {
    std::vector<bucket> buckets;
    std::unordered_map<std::int64_t, std::size_t> places;
    for (const std::int64_t distance : distances) {
        const auto [place, fresh] = places.try_emplace(distance, buckets.size());
        if (fresh) buckets.push_back({distance, 0});
        ++buckets[place->second].count;
    }
    return buckets;
}

plot_range range_of(const std::vector<std::int64_t>& distances) {
    if (distances.empty()) return {0, 0, {}};
    std::vector<std::int64_t> sorted = distances;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t last = sorted.size() - 1;
    const std::int64_t low = sorted[last / 50];
    const std::int64_t high = sorted[last - last / 50];
    // The range is the middle 96 % extended by one and a half times its width on either side. If these are all equal,
    // it is extended by 64 bytes, so that it includes a neighbour such as 28 and 44 and excludes a jump to another
    // page.
    const double room = std::max(1.5 * between(low, high), 64.0);
    const double floor = static_cast<double>(low) - room;
    const double ceiling = static_cast<double>(high) + room;
    plot_range range{high, low, {}};
    for (std::size_t index = 0; index < distances.size(); ++index) {
        const auto distance = static_cast<double>(distances[index]);
        if (distance < floor || distance > ceiling) {
            range.clipped.push_back(index);
            continue;
        }
        range.low = std::min(range.low, distances[index]);
        range.high = std::max(range.high, distances[index]);
    }
    return range;
}

distance_summary summarize_distances(const std::vector<std::int64_t>& distances) {
    distance_summary found;
    if (distances.empty()) return found;
    const std::vector<bucket> buckets = buckets_of(distances);
    const auto usual = std::max_element(buckets.begin(), buckets.end(), [](const bucket& left, const bucket& right) {
        return left.count < right.count;
    });
    const auto [lowest, highest] = std::minmax_element(distances.begin(), distances.end());
    found.count = distances.size();
    found.usual = usual->distance;
    found.usual_count = usual->count;
    found.distinct = buckets.size();
    found.backwards = static_cast<std::size_t>(
        std::count_if(distances.begin(), distances.end(), [](std::int64_t distance) { return distance < 0; }));
    found.lowest = *lowest;
    found.highest = *highest;
    return found;
}

std::vector<distance_view> distances_of(const experiment_result& found) {
    if (found.summarized) return summarized_distances(found);
    std::vector<distance_view> views;
    for (const contestant_result& contestant : found.contestants) {
        if (contestant.state != outcome::measured) continue;
        const std::size_t first = views.size();
        for (const series& list : contestant.lists) {
            if (list.name != distances_name || list.values.empty()) continue;
            const auto same = std::find_if(views.begin() + static_cast<std::ptrdiff_t>(first), views.end(),
                                           [&](const distance_view& view) { return *view.values == list.values; });
            if (same == views.end()) {
                views.push_back({&contestant, {list.variant}, &list.values, summarize_distances(list.values)});
            } else {
                same->variants.push_back(list.variant);
            }
        }
    }
    return views;
}

}
