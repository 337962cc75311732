// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/separation/partitions.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

constexpr std::size_t max_clustered = 64, max_lifetime_sites = 256; ///< largest groups; others are ordinary
constexpr std::size_t max_added = 6;                                ///< groups that get a class more, each alone
constexpr double few = 1e-4; ///< of the trace's bytes and calls: too few to say anything

std::string by_frames(std::size_t frames) {
    return frames == 1 ? "compared by 1 frame" : fmt::format("compared by up to {} frames", frames);
}

/// Joins the two clusters whose blocks die most alike, until `count` are left: Ward's method, weighted by held bytes.
/// Returns   a cluster for each of the groups.
std::vector<std::size_t> clusters_of(const std::vector<death_figures>& deaths, const std::vector<double>& weights,
                                     std::size_t count) {
    constexpr std::size_t width = death_figures::parts + 1;
    struct cluster {
        std::array<double, width> when;
        double weight;
        std::vector<std::size_t> members;
    };
    std::vector<cluster> made;
    for (std::size_t i = 0; i < deaths.size(); ++i) {
        double sum = 0;
        for (const double each : deaths[i].when) sum += each;
        cluster one{deaths[i].when, weights[i], {i}};
        for (double& each : one.when) each /= std::max(sum, 1.0);
        made.push_back(std::move(one));
    }
    const auto loss = [](const cluster& a, const cluster& b) {
        double distance = 0;
        for (std::size_t i = 0; i < width; ++i) distance += (a.when[i] - b.when[i]) * (a.when[i] - b.when[i]);
        return distance * a.weight * b.weight / std::max(a.weight + b.weight, 1.0);
    };
    while (made.size() > count) {
        double least = std::numeric_limits<double>::infinity();
        std::pair<std::size_t, std::size_t> best{0, 1};
        for (std::size_t i = 0; i < made.size(); ++i)
            for (std::size_t j = i + 1; j < made.size(); ++j)
                if (const double now = loss(made[i], made[j]); now < least) {
                    least = now;
                    best = {i, j};
                }
        cluster &into = made[best.first], &from = made[best.second];
        const double weight = std::max(into.weight + from.weight, 1.0);
        for (std::size_t i = 0; i < width; ++i)
            into.when[i] = (into.when[i] * into.weight + from.when[i] * from.weight) / weight;
        into.weight += from.weight;
        into.members.insert(into.members.end(), from.members.begin(), from.members.end());
        made.erase(made.begin() + static_cast<std::ptrdiff_t>(best.second));
    }
    std::vector<std::size_t> cluster_of(deaths.size());
    for (std::size_t i = 0; i < made.size(); ++i)
        for (const std::size_t member : made[i].members) cluster_of[member] = i;
    return cluster_of;
}

}

partition_maker::partition_maker(const trace& recorded, const site_tree& tree)
    : recorded_(recorded), tree_(tree), figures_(tree.size()) {
    const std::vector<site_figures> by_stack = figures_of_stacks(recorded);
    for (std::uint32_t stack = 0; stack < by_stack.size(); ++stack) {
        figures_[tree.node_of(stack)] += by_stack[stack];
        all_ += by_stack[stack];
    }
}

std::vector<partition_maker::node_group> partition_maker::groups_of(std::size_t frames) const {
    std::map<std::uint32_t, node_group> found;
    for (std::uint32_t node = 1; node < figures_.size(); ++node) {
        if (figures_[node].calls == 0) continue;
        node_group& group = found[tree_.shortened(node, frames)];
        group.nodes.push_back(node);
        group.sum += figures_[node];
    }
    std::vector<node_group> made;
    for (auto& [first, group] : found) made.push_back(std::move(group));
    std::stable_sort(made.begin(), made.end(),
                     [](const node_group& a, const node_group& b) { return a.sum.held > b.sum.held; });
    return made;
}

std::vector<death_figures> partition_maker::deaths_of(const std::vector<node_group>& groups) const {
    std::vector<std::uint32_t> of_node(tree_.size(), no_group), of_stack(recorded_.stacks.size());
    for (std::uint32_t group = 0; group < groups.size(); ++group)
        for (const std::uint32_t node : groups[group].nodes) of_node[node] = group;
    for (std::uint32_t stack = 0; stack < of_stack.size(); ++stack) of_stack[stack] = of_node[tree_.node_of(stack)];
    return deaths_of_groups(recorded_, of_stack, groups.size());
}

void partition_maker::add_largest(std::vector<partition>& to) const {
    for (std::size_t frames = 1; frames <= max_site_frames; ++frames) {
        std::vector<node_group> groups = groups_of(frames);
        for (const bool by_held : {true, false}) {
            if (!by_held)
                std::stable_sort(groups.begin(), groups.end(),
                                 [](const node_group& a, const node_group& b) { return a.sum.bytes > b.sum.bytes; });
            partition made;
            made.origin =
                fmt::format("the call sites that {} most bytes, {}", by_held ? "hold" : "allocate", by_frames(frames));
            made.classes.resize(tree_.size());
            for (std::size_t i = 0; i < std::min<std::size_t>(groups.size(), max_separated_classes); ++i)
                for (const std::uint32_t node : groups[i].nodes) made.classes[node] = static_cast<std::uint8_t>(i + 1);
            to.push_back(std::move(made));
        }
    }
}

void partition_maker::add_lifetimes(std::vector<partition>& to) const {
    std::vector<node_group> groups = groups_of(max_site_frames);
    groups.resize(std::min(groups.size(), max_lifetime_sites));
    const std::vector<death_figures> deaths = deaths_of(groups);
    partition made;
    made.origin = fmt::format("lifetimes, {}", by_frames(max_site_frames));
    made.classes.resize(tree_.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto& lifetimes = deaths[i].lifetimes;
        double all = 0, sum = 0;
        for (const double each : lifetimes) all += each;
        std::size_t class_of = 0; // that nine tenths of the bytes do not outlive
        while (class_of < lifetimes.size() - 1 && (sum += lifetimes[class_of]) < all * 0.9) ++class_of;
        for (const std::uint32_t node : groups[i].nodes)
            made.classes[node] = static_cast<std::uint8_t>(class_of); // the shortest lifetimes have ordinary pages
    }
    to.push_back(std::move(made));
}

void partition_maker::add_deaths(std::vector<partition>& to) const {
    for (std::size_t frames = 1; frames <= max_site_frames; ++frames) {
        std::vector<node_group> groups = groups_of(frames);
        groups.resize(std::min(groups.size(), max_clustered));
        const std::vector<death_figures> deaths = deaths_of(groups);
        std::vector<double> weights;
        for (const node_group& each : groups) weights.push_back(each.sum.held);
        for (const std::size_t count : {std::size_t{4}, std::size_t{max_separated_classes + 1}}) {
            const std::vector<std::size_t> cluster_of = clusters_of(deaths, weights, count);
            // Ordinary pages are fastest, so the cluster with the most calls has them.
            std::vector<std::uint64_t> calls(count);
            for (std::size_t i = 0; i < groups.size(); ++i) calls[cluster_of[i]] += groups[i].sum.calls;
            const auto busiest = static_cast<std::size_t>(std::max_element(calls.begin(), calls.end()) - calls.begin());
            partition made;
            made.origin = fmt::format("the time when blocks are freed, in {} groups, {}", count, by_frames(frames));
            made.classes.resize(tree_.size());
            for (std::size_t i = 0; i < groups.size(); ++i) {
                const std::size_t number = cluster_of[i] == busiest ? 0 : cluster_of[i] + (cluster_of[i] < busiest);
                for (const std::uint32_t node : groups[i].nodes) made.classes[node] = static_cast<std::uint8_t>(number);
            }
            to.push_back(std::move(made));
        }
    }
}

std::vector<partition> partition_maker::all() const {
    std::vector<partition> made;
    add_largest(made);
    add_lifetimes(made);
    add_deaths(made);
    return made;
}

std::vector<partition> partition_maker::with_one_more(const partition& of) const {
    std::vector<partition> made;
    const std::uint8_t count = *std::max_element(of.classes.begin(), of.classes.end());
    if (count == max_separated_classes) return made;
    for (const std::size_t frames : {std::size_t{2}, max_site_frames}) {
        std::vector<node_group> groups = groups_of(frames);
        for (node_group& each : groups) {
            std::erase_if(each.nodes, [&](std::uint32_t node) { return of.classes[node] != ordinary_class; });
            each.sum = {};
            for (const std::uint32_t node : each.nodes) each.sum += figures_[node];
        }
        std::stable_sort(groups.begin(), groups.end(),
                         [](const node_group& a, const node_group& b) { return a.sum.held > b.sum.held; });
        for (std::size_t i = 0; i < std::min(groups.size(), max_added); ++i) {
            partition one = of;
            for (const std::uint32_t node : groups[i].nodes) one.classes[node] = static_cast<std::uint8_t>(count + 1);
            made.push_back(std::move(one));
        }
    }
    return made;
}

separation partition_maker::sites_for(const std::vector<std::uint8_t>& classes) const {
    std::vector<wanted_class> wanted(tree_.size());
    wanted[site_tree::root].is_any = false;
    for (std::size_t node = 1; node < wanted.size(); ++node) {
        const site_figures& of = figures_[node];
        const bool is_few = static_cast<double>(of.bytes) < few * static_cast<double>(all_.bytes) &&
                            static_cast<double>(of.calls) < few * static_cast<double>(all_.calls) &&
                            of.held < few * all_.held;
        wanted[node] = {classes[node], is_few};
    }
    return tree_.sites_for(wanted);
}

std::vector<site_figures> partition_maker::sums(const std::vector<std::uint8_t>& classes) const {
    std::vector<site_figures> made(max_separated_classes + 1);
    for (std::size_t node = 0; node < figures_.size(); ++node) made[classes[node]] += figures_[node];
    return made;
}

}
