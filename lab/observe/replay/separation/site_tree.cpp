// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/separation/site_tree.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tenure::lab {

namespace {

constexpr std::size_t class_count = max_separated_classes + 1;
constexpr std::uint64_t impossible = std::numeric_limits<std::uint64_t>::max() / 4;
/// A site less is worth more than any frames: a site has at most max_site_frames.
constexpr std::uint64_t site_cost = std::uint64_t{max_site_frames} << 20;

}

site_tree::site_tree(const trace& recorded) {
    const code_places places(recorded);
    std::map<std::pair<std::string, std::string>, std::uint32_t> objects;
    std::unordered_map<std::uint64_t, advice_frame> frames; // by return address
    const auto frame_of = [&](std::uint64_t address) {
        const auto [entry, is_new] = frames.try_emplace(address, advice_frame{no_site, 0});
        if (!is_new) return entry->second;
        const code_places::place found = places.find(address);
        // A file without a build ID may be rebuilt at the same path: its offsets would be those of other calls.
        if (found.mapping == nullptr || found.mapping->build_id.empty()) return entry->second;
        if (!can_be_read({found.mapping->build_id, found.mapping->path})) return entry->second;
        const auto [object, is_first] = objects.try_emplace({found.mapping->build_id, found.mapping->path},
                                                            static_cast<std::uint32_t>(objects_.size()));
        if (is_first) objects_.push_back({found.mapping->build_id, found.mapping->path});
        return entry->second = {object->second, found.offset};
    };
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> known;
    ends_.reserve(recorded.stacks.size());
    for (const trace_stack& stack : recorded.stacks) {
        std::uint32_t at = root;
        for (std::size_t i = 0; i < std::min(stack.frames.size(), max_site_frames); ++i) {
            const advice_frame frame = frame_of(stack.frames[i]);
            if (frame.object == no_site) break;
            const auto [next, is_new] =
                known.try_emplace({at, frame.object, frame.offset}, static_cast<std::uint32_t>(nodes_.size()));
            if (is_new) nodes_.push_back({frame, at, nodes_[at].depth + 1});
            at = next->second;
        }
        ends_.push_back(at);
    }
}

std::uint32_t site_tree::shortened(std::uint32_t node, std::size_t frames) const {
    while (nodes_[node].depth > frames) node = nodes_[node].parent;
    return node;
}

std::vector<advice_frame> site_tree::path_to(std::uint32_t index) const {
    std::vector<advice_frame> path;
    for (std::uint32_t at = index; at != root; at = nodes_[at].parent) path.push_back(nodes_[at].frame);
    std::reverse(path.begin(), path.end());
    return path;
}

separation site_tree::sites_for(std::span<const wanted_class> wanted) const {
    using costs = std::array<std::uint64_t, class_count>;
    // below[n][c]: of all sites beneath n, if calls that end in n have class c. Children are behind their parents.
    std::vector<costs> below(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        for (std::size_t number = 0; number < class_count; ++number)
            if (!wanted[i].is_any && wanted[i].number != number) below[i][number] = impossible;
    // The class of a node that inherits `from`: the same unless a site of its own is cheaper.
    const auto chosen = [&](std::size_t node, std::size_t from) {
        std::size_t best = from;
        std::uint64_t least = below[node][from];
        for (std::size_t number = 0; number < class_count; ++number) {
            const std::uint64_t cost = below[node][number] + site_cost + nodes_[node].depth;
            if (cost < least) {
                best = number;
                least = cost;
            }
        }
        return std::pair{best, std::min(least, impossible)};
    };
    for (std::size_t i = nodes_.size(); i-- > 1;)
        for (std::size_t number = 0; number < class_count; ++number) {
            std::uint64_t& sum = below[nodes_[i].parent][number];
            sum = std::min(impossible, sum + chosen(i, number).second);
        }
    separation made;
    std::vector<std::size_t> classes(nodes_.size(), ordinary_class);
    std::vector<std::uint32_t> numbers(objects_.size(), no_site); // of objects that a site names
    std::array<bool, class_count> is_used{};
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
        const std::size_t from = classes[nodes_[i].parent];
        classes[i] = chosen(i, from).first;
        if (classes[i] == from) continue;
        advice_site site{static_cast<std::uint8_t>(classes[i]), path_to(i)};
        for (advice_frame& frame : site.frames) {
            std::uint32_t& number = numbers[frame.object];
            if (number == no_site) {
                number = static_cast<std::uint32_t>(made.objects.size());
                made.objects.push_back(objects_[frame.object]);
            }
            frame.object = number;
        }
        is_used[classes[i]] = true;
        made.sites.push_back(std::move(site));
    }
    for (std::size_t number = 1; number < class_count; ++number)
        if (is_used[number]) made.classes.push_back({static_cast<std::uint8_t>(number), {}});
    return made;
}

}
