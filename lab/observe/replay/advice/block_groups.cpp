// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Each group is walked once in the order of its allocations and frees.

#include "observe/replay/advice/block_groups.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <unordered_map>

namespace tenure::lab {

namespace {

constexpr std::uint64_t fine_bytes = 128; ///< up to here a class is 16 bytes wide
constexpr std::uint32_t fine_classes = fine_bytes / 16;

lifetime_figures figures_of(std::vector<std::uint64_t>& values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    return {at(0.5), at(0.99), values.back()};
}

constexpr std::uint64_t no_frame = 0; ///< the stack has no more

std::uint64_t frame_at(const trace& recorded, std::uint32_t stack, std::size_t depth) {
    const std::vector<std::uint64_t>& frames = recorded.stacks[stack].frames;
    return depth < frames.size() ? frames[depth] : no_frame;
}

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// A free or an allocation of a group.
struct step {
    std::uint64_t event;
    std::uint64_t index; ///< of the block in the group
    bool is_free;
};

std::vector<step> steps_of(const block_group& group, std::span<const block_life> lives) {
    std::vector<step> steps;
    steps.reserve(group.blocks.size() * 2);
    for (std::size_t i = 0; i < group.blocks.size(); ++i) {
        const block_life& life = lives[group.blocks[i]];
        steps.push_back({life.born.event, i, false});
        if (life.is_freed()) steps.push_back({life.died.event, i, true});
    }
    std::sort(steps.begin(), steps.end(), [](const step& a, const step& b) { return a.event < b.event; });
    return steps;
}

/// The blocks of one thread that are in use, youngest last; those freed in another order are removed when they come up.
class thread_order {
public:
    void allocate(std::uint64_t block) { in_use_.push_back(block); }
    /// Returns   whether the block was the youngest.
    bool free(std::uint64_t block, std::vector<bool>& freed) {
        while (!in_use_.empty() && freed[in_use_.back()]) in_use_.pop_back();
        const bool is_youngest = !in_use_.empty() && in_use_.back() == block;
        if (is_youngest) in_use_.pop_back();
        freed[block] = true;
        return is_youngest;
    }

private:
    std::vector<std::uint64_t> in_use_;
};

void walk(block_group& group, std::span<const block_life> lives) {
    std::uint64_t in_use = 0, in_use_bytes = 0, youngest = 0, freed_in_burst = 0;
    std::vector<bool> freed(group.blocks.size());
    std::unordered_map<std::uint32_t, thread_order> orders;
    for (const step& each : steps_of(group, lives)) {
        const block_life& life = lives[group.blocks[each.index]];
        if (each.is_free) {
            --in_use;
            in_use_bytes -= life.largest_bytes;
            youngest += std::uint64_t{orders[life.born.thread].free(each.index, freed)};
            ++freed_in_burst;
            if (in_use == 0) group.bursts.back().end = each.event;
            continue;
        }
        if (in_use == 0) {
            group.bursts.push_back({each.event, never, each.index});
            freed_in_burst = 0;
        }
        group_burst& burst = group.bursts.back();
        burst.early = freed_in_burst;
        ++burst.blocks;
        burst.bytes += life.largest_bytes;
        ++in_use;
        in_use_bytes += life.largest_bytes;
        burst.peak_bytes = std::max(burst.peak_bytes, in_use_bytes);
        group.peak_blocks = std::max(group.peak_blocks, in_use);
        group.peak_bytes = std::max(group.peak_bytes, in_use_bytes);
        orders[life.born.thread].allocate(each.index);
    }
    group.threads = static_cast<std::uint32_t>(orders.size());
    group.lifo_share = share_of(youngest, group.blocks.size() - group.left);
    std::uint64_t together = 0;
    for (const group_burst& each : group.bursts)
        if (each.end != never) together += each.blocks - each.early;
    group.together_share = share_of(together, group.blocks.size());
}

/// The innermost frames that all stacks have in common.
std::size_t common_frames(const trace& recorded, const std::set<std::uint32_t>& stacks) {
    if (stacks.empty()) return 0;
    const std::vector<std::uint64_t>& first = recorded.stacks[*stacks.begin()].frames;
    std::size_t common = first.size();
    for (const std::uint32_t each : stacks) {
        const std::vector<std::uint64_t>& other = recorded.stacks[each].frames;
        std::size_t same = 0;
        while (same < common && same < other.size() && first[same] == other[same]) ++same;
        common = same;
    }
    return common;
}

void complete(block_group& group, const trace& recorded, std::span<const block_life> lives) {
    std::vector<std::uint64_t> events, allocated, time, frames;
    std::map<std::uint64_t, std::uint64_t> sizes;
    std::uint64_t same_thread = 0;
    std::set<std::uint32_t> stacks;
    std::map<std::uint32_t, std::uint64_t> freed;
    for (const std::uint64_t index : group.blocks) {
        const block_life& life = lives[index];
        if (life.born.stack != 0) stacks.insert(life.born.stack);
        group.bytes += life.first_bytes;
        ++sizes[life.first_bytes];
        group.zeroed += std::uint64_t{life.is_zeroed};
        group.resized += std::uint64_t{life.resizes != 0};
        group.resizes += life.resizes;
        if (!life.is_freed()) {
            ++group.left;
            continue;
        }
        same_thread += std::uint64_t{!life.crossed};
        if (life.died.stack != 0) ++freed[life.died.stack];
        events.push_back(life.died.event - life.born.event);
        ++group.lifetimes[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(events.back())),
                                                group.lifetimes.size() - 1)];
        allocated.push_back(life.died.bytes - life.born.bytes);
        // Threads read the clock for themselves, so a block can seem to end before it began.
        time.push_back(life.died.time_ns > life.born.time_ns ? life.died.time_ns - life.born.time_ns : 0);
        frames.push_back(life.died.frame - life.born.frame);
    }
    group.stacks = stacks.size();
    group.freed_stacks = freed.size();
    for (const auto& [stack, count] : freed) {
        if (count <= group.freed_there) continue;
        group.freed_stack = stack;
        group.freed_there = count;
    }
    group.depth = common_frames(recorded, stacks);
    group.smallest = sizes.begin()->first;
    group.largest = sizes.rbegin()->first;
    const auto common =
        std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    group.most_common = common->first;
    group.common_share = share_of(common->second, group.blocks.size());
    group.same_thread_share = share_of(same_thread, group.blocks.size() - group.left);
    group.events = figures_of(events);
    group.allocated = figures_of(allocated);
    group.time_ns = figures_of(time);
    group.frames = figures_of(frames);
    walk(group, lives);
}

template<class Key>
std::vector<block_group> finished(std::map<Key, block_group>& made, const trace& recorded,
                                  std::span<const block_life> lives) {
    std::vector<block_group> all;
    for (auto& [key, group] : made) {
        complete(group, recorded, lives);
        all.push_back(std::move(group));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const block_group& a, const block_group& b) { return a.blocks.size() > b.blocks.size(); });
    return all;
}

}

std::uint32_t size_class_of(std::uint64_t bytes) {
    if (bytes <= fine_bytes) return static_cast<std::uint32_t>(bytes == 0 ? 0 : (bytes - 1) / 16);
    const auto doubling = static_cast<std::uint32_t>(std::bit_width(bytes - 1)) - 1; // 7 for 129 to 256
    const auto quarter = static_cast<std::uint32_t>((bytes - 1) >> (doubling - 2)) & 3U;
    return fine_classes + (doubling - 7) * 4 + quarter;
}

bool has_stacks(const trace& recorded) {
    return std::any_of(recorded.events.begin(), recorded.events.end(),
                       [](const trace_event& each) { return each.call == trace_call::allocate && each.stack != 0; });
}

std::vector<block_group> groups_of(const trace& recorded, std::span<const block_life> lives) {
    const bool by_stack = has_stacks(recorded);
    std::map<std::uint64_t, block_group> made;
    for (const trace_event& event : recorded.events) {
        if (event.call != trace_call::allocate) continue;
        const std::uint32_t size_class = size_class_of(event.bytes);
        block_group& group = made[by_stack ? frame_at(recorded, event.stack, 0) : size_class];
        group.stack = event.stack;
        group.size_class = by_stack ? every_size : size_class;
        group.blocks.push_back(event.block);
    }
    return finished(made, recorded, lives);
}

std::vector<block_group> by_caller(const trace& recorded, const block_group& group, std::span<const block_life> lives) {
    if (group.stacks < 2) return {};
    std::map<std::uint64_t, block_group> made;
    for (const std::uint64_t block : group.blocks) {
        const std::uint32_t stack = lives[block].born.stack;
        block_group& one = made[frame_at(recorded, stack, group.depth)];
        one.stack = stack;
        one.size_class = group.size_class;
        one.blocks.push_back(block);
    }
    return finished(made, recorded, lives);
}

std::vector<block_group> by_size_class(const trace& recorded, const block_group& group,
                                       std::span<const block_life> lives) {
    std::map<std::uint32_t, block_group> made;
    for (const std::uint64_t block : group.blocks) {
        const std::uint32_t size_class = size_class_of(lives[block].first_bytes);
        block_group& one = made[size_class];
        one.stack = lives[block].born.stack;
        one.size_class = size_class;
        one.blocks.push_back(block);
    }
    return finished(made, recorded, lives);
}

}
