// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/pins/pinned_memory.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "observe/profile/calibration.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;

/// The run that contains an address, or nullptr.
[[nodiscard]] const format::page_run* run_at(const saved_profile& saved, std::uint64_t address) {
    auto after = std::upper_bound(saved.pages.begin(), saved.pages.end(), address,
                                  [](std::uint64_t at, const format::page_run& each) { return at < each.address; });
    if (after == saved.pages.begin()) return nullptr;
    --after;
    return address - after->address < std::uint64_t{after->pages} * format::page_bytes ? &*after : nullptr;
}

/// Calls `visit(run, first page's number, pages, bytes of the block there)` for the block's pages that are in memory:
/// one at a time where it may share them, else a part of a run. `budget`: steps for
/// all blocks; those of a sound file do not overlap, so they need few.
template<class Visit>
void for_each_page_of(const saved_profile& saved, const format::live_sample& block, std::uint64_t& budget,
                      Visit&& visit) {
    constexpr std::uint64_t most_small = std::uint64_t{64} << 10; // a damaged file says otherwise
    if (block.block_bytes > UINT64_MAX - block.address) return;
    const std::uint64_t end = block.address + block.block_bytes;
    for (std::uint64_t at = block.address; at < end && budget != 0; --budget) {
        const format::page_run* const run = run_at(saved, at);
        const std::uint64_t page = at / format::page_bytes;
        const bool is_shared = run != nullptr && run->use == format::page_use::small_blocks;
        const bool is_of_any_size = is_shared && run->block_bytes == 0;
        if (is_shared && (block.block_bytes <= most_small || is_of_any_size)) {
            const std::uint64_t next = std::min(end, (page + 1) * format::page_bytes);
            // Otherwise it has been freed since, and the page may have other blocks.
            const bool is_of_size = is_of_any_size || run->block_bytes == block.block_bytes;
            if (is_of_size && next - at <= run->live_bytes) visit(*run, page, 1, next - at);
            at = next;
        } else if (run != nullptr) { // a large block shares no page
            const std::uint64_t run_end = run->address + std::uint64_t{run->pages} * format::page_bytes;
            const std::uint64_t next = std::min(run_end, end);
            const std::uint64_t pages = (next - at + format::page_bytes - 1) / format::page_bytes;
            if (run->use == format::page_use::large_block) visit(*run, page, pages, next - at);
            at = next;
        } else { // not in memory: on to the next run
            const auto next = std::upper_bound(
                saved.pages.begin(), saved.pages.end(), at,
                [](std::uint64_t address, const format::page_run& each) { return address < each.address; });
            if (next == saved.pages.end()) return;
            at = next->address;
        }
    }
}

/// What a value of a sampled block stands for.
[[nodiscard]] format::estimate expanded(double value, double chance) {
    const double all = value / chance;
    return {1, 1 / chance, all, all * all * (1 - chance)};
}

/// What is known of each sampled block.
struct sampled_values {
    std::vector<std::size_t> stack;
    std::vector<double> held, alone, rounding;
};

/// The sums of the samples as they are.
void add_up(const saved_profile& saved, const sampled_values& values, std::vector<pinning_stack>& by_stack,
            pinned_memory& to) {
    for (std::size_t index = 0; index < saved.live.size(); ++index) {
        const format::live_sample& each = saved.live[index];
        const double chance = chance_of(each.block_bytes, saved.header.mean_bytes);
        if (!(chance > 0)) continue;
        pinning_stack& stack = by_stack[values.stack[index]];
        add(stack.live, expanded(static_cast<double>(each.block_bytes), chance));
        add(stack.held, expanded(values.held[index], chance));
        add(stack.alone, expanded(values.alone[index], chance));
        add(to.held, expanded(values.held[index], chance));
        add(to.rounding, expanded(values.rounding[index], chance));
    }
}

/// The sums, corrected by the heap's counts.
void correct_sums(const calibration& counts, const sampled_values& values, std::vector<pinning_stack>& by_stack,
                  pinned_memory& to) {
    const auto live = counts.by_group(values.stack, by_stack.size());
    const auto held = counts.values_by_group(values.held, values.stack, by_stack.size());
    const auto alone = counts.values_by_group(values.alone, values.stack, by_stack.size());
    for (std::size_t index = 0; index < by_stack.size(); ++index) {
        by_stack[index].live = live[index];
        by_stack[index].held = held[index];
        by_stack[index].alone = alone[index];
    }
    const std::vector<std::size_t> all_in_one(values.stack.size());
    to.held = counts.values_by_group(values.held, all_in_one, 1).front();
    to.rounding = counts.values_by_group(values.rounding, all_in_one, 1).front();
}

/// The bytes of cached blocks in memory. Blocks that a thread's cache has got from fresh pages are not, while blocks in
/// use have been written to: so of each size the exact count of those in use comes first, and what remains is cached.
[[nodiscard]] std::uint64_t cached_in_memory(const saved_profile& saved,
                                             const std::map<std::uint64_t, std::uint64_t>& allocated_by_size) {
    std::map<std::uint64_t, std::uint64_t> in_use;
    for (const format::size_class& each : saved.classes) in_use[each.block_bytes] = each.live_bytes;
    std::uint64_t bytes = 0;
    for (const format::cached_blocks& each : saved.cached) {
        const auto allocated = allocated_by_size.find(each.block_bytes);
        if (allocated == allocated_by_size.end() || each.block_bytes > UINT32_MAX || each.count > UINT32_MAX) continue;
        const auto known = in_use.find(each.block_bytes);
        const std::uint64_t used = known == in_use.end() ? 0 : std::min(known->second, allocated->second);
        bytes += std::min(each.block_bytes * each.count, allocated->second - used);
    }
    return bytes;
}

void count_pages(const saved_profile& saved, memory_parts& parts) {
    std::uint64_t allocated = 0; // in use, or in caches
    std::map<std::uint64_t, std::uint64_t> allocated_by_size;
    for (const format::page_run& each : saved.pages) {
        const std::uint64_t bytes = std::uint64_t{each.pages} * format::page_bytes;
        const std::uint64_t live = std::uint64_t{each.pages} * each.live_bytes;
        switch (each.use) {
        case format::page_use::records: parts.records += bytes; break;
        case format::page_use::slack: parts.slack += bytes; break;
        case format::page_use::free: parts.waiting += bytes; break;
        case format::page_use::small_blocks:
        case format::page_use::large_block:
            allocated += live;
            if (each.use == format::page_use::small_blocks) allocated_by_size[each.block_bytes] += live;
            (live == 0 ? parts.waiting : parts.held) += bytes - live;
            break;
        }
    }
    parts.cached = cached_in_memory(saved, allocated_by_size);
    parts.live = allocated - parts.cached;
}

/// Sums up what is resident beside the heap. A mapping that has some of the heap's pages counts without them.
void count_others(const saved_profile& saved, pinned_memory& to) {
    std::map<std::string, std::uint64_t> by_name;
    std::uint64_t heap_bytes = 0, heap_in_mappings = 0;
    for (const format::page_run& each : saved.pages) heap_bytes += std::uint64_t{each.pages} * format::page_bytes;
    auto run = saved.pages.begin();
    for (const resident_mapping& each : saved.memory) {
        to.parts.resident += each.resident_bytes;
        std::uint64_t ours = 0;
        while (run != saved.pages.end() && run->address < each.end) {
            // A run may continue in the next mapping, which is then next to this one.
            const std::uint64_t end = run->address + std::uint64_t{run->pages} * format::page_bytes;
            const std::uint64_t from = std::max(run->address, each.begin), until = std::min(end, each.end);
            if (until > from) ours += until - from;
            if (end > each.end) break;
            ++run;
        }
        const std::uint64_t rest = each.resident_bytes - std::min(each.resident_bytes, ours);
        heap_in_mappings += each.resident_bytes - rest;
        if (rest != 0) by_name[each.name.empty() ? std::string{"memory without a name"} : each.name] += rest;
        to.parts.others += rest;
    }
    to.parts.unexplained = static_cast<std::int64_t>(heap_in_mappings) - static_cast<std::int64_t>(heap_bytes);
    for (auto& [name, bytes] : by_name) to.others.push_back({name, bytes});
    std::stable_sort(to.others.begin(), to.others.end(),
                     [](const other_memory& a, const other_memory& b) { return a.resident_bytes > b.resident_bytes; });
}

}

memory_parts parts_of(const saved_profile& saved) {
    pinned_memory found;
    count_pages(saved, found.parts);
    count_others(saved, found);
    return found.parts;
}

pinned_memory find_pinned(const saved_profile& saved, const named_profile& named) {
    pinned_memory found;
    found.malloc_file = saved.malloc_file;
    found.from_core = saved.from_core;
    found.is_exact = saved.header.mean_bytes == 1 && saved.header.lost_samples == 0;
    count_pages(saved, found.parts);
    count_others(saved, found);

    std::vector<std::size_t> stack_of_site(saved.sites.size());
    std::vector<pinning_stack> by_stack(named.stacks.size());
    for (std::size_t index = 0; index < named.stacks.size(); ++index) {
        by_stack[index].stack = index;
        for (const std::uint32_t site : named.stacks[index].sites) stack_of_site[site] = index;
    }
    std::map<std::pair<std::uint64_t, std::size_t>, std::uint32_t> shared; // blocks, by number of the page and stack
    constexpr std::uint64_t steps_of_block = 32, steps_of_run = 4;
    std::uint64_t budget = steps_of_block * saved.live.size() + steps_of_run * saved.pages.size();
    sampled_values values;
    for (const format::live_sample& each : saved.live) {
        double held = 0, alone = 0;
        for_each_page_of(
            saved, each, budget,
            [&](const format::page_run& run, std::uint64_t page, std::uint64_t pages, std::uint64_t bytes) {
                const double free = format::page_bytes - run.live_bytes;
                held += free * static_cast<double>(bytes) / run.live_bytes;
                if (run.blocks == 1) alone += static_cast<double>(pages * format::page_bytes);
                if (run.blocks != 1 && found.is_exact) ++shared[{page, stack_of_site[each.site]}];
            });
        values.stack.push_back(stack_of_site[each.site]);
        values.held.push_back(held);
        values.alone.push_back(alone);
        values.rounding.push_back(static_cast<double>(each.block_bytes - std::min(each.block_bytes, each.asked_bytes)));
    }
    const calibration counts(saved);
    found.is_calibrated = counts.is_possible() && !found.is_exact;
    found.is_calibrated ? correct_sums(counts, values, by_stack, found) : add_up(saved, values, by_stack, found);
    for (const auto& [key, blocks] : shared) {
        const format::page_run* const run = run_at(saved, key.first * format::page_bytes);
        if (run != nullptr && run->blocks == blocks) by_stack[key.second].alone.bytes += format::page_bytes;
    }
    for (const pinning_stack& each : by_stack) {
        if (each.live.samples != 0) found.stacks.push_back(each);
    }
    std::stable_sort(found.stacks.begin(), found.stacks.end(),
                     [](const pinning_stack& a, const pinning_stack& b) { return a.held.bytes > b.held.bytes; });
    return found;
}

}
