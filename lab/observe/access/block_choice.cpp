// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/access/block_choice.hpp"

#include <algorithm>
#include <utility>

namespace tenure::lab {

namespace {

[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> place_of(const listed_block& of) {
    return {of.stack, of.ordinal};
}

/// Reads an entry that another process may be changing.
[[nodiscard]] bool read_entry(live_blocks::entry& from, listed_block& to) {
    to.name = from.name.load(std::memory_order_acquire);
    if (to.name == 0) return false;
    to.address = from.address.load(std::memory_order_relaxed);
    to.ticks = from.ticks;
    to.stack = from.stack;
    to.ordinal = from.ordinal.load(std::memory_order_relaxed);
    to.bytes = from.bytes;
    std::atomic_thread_fence(std::memory_order_acquire);
    return from.name.load(std::memory_order_relaxed) == to.name && to.address != 0;
}

}

void block_choice::refresh(live_blocks& list, std::uint64_t now_ticks, std::uint64_t least_ticks) {
    blocks_.clear();
    listed_block found;
    std::size_t listed = 0;
    const auto is_sampled = [&](const listed_block& each) {
        return list.is_sampled(list.mask.load(std::memory_order_relaxed), each.name, each.ordinal);
    };
    for (live_blocks::entry& each : list.entries) {
        if (!read_entry(each, found)) continue;
        if (!is_sampled(found)) { // the mask was widened while it was added
            live_blocks::drop(each, found.name);
            continue;
        }
        ++listed;
        if (found.address % 8 == 0 && found.bytes >= 8 && now_ticks - found.ticks >= least_ticks &&
            now_ticks >= found.ticks)
            blocks_.push_back(found);
    }
    if (listed > max_listed) {
        std::uint32_t mask = list.mask.load(std::memory_order_relaxed);
        list.mask.compare_exchange_strong(mask, mask * 2 + 1, std::memory_order_relaxed); // or the program has
        list.thin();
        std::erase_if(blocks_, [&](const listed_block& each) { return !is_sampled(each); });
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const listed_block& a, const listed_block& b) { return place_of(a) < place_of(b); });
    by_name_.clear();
    by_ordinal_.clear();
    for (std::size_t index = 0; index < blocks_.size(); ++index) {
        by_name_.emplace(blocks_[index].name, index);
        by_ordinal_.emplace_back(blocks_[index].ordinal, static_cast<std::uint32_t>(index));
    }
    std::sort(by_ordinal_.begin(), by_ordinal_.end());
}

std::size_t block_choice::any_of_stack(std::uint32_t stack) {
    const auto [begin, end] =
        std::equal_range(blocks_.begin(), blocks_.end(), listed_block{.stack = stack},
                         [](const listed_block& a, const listed_block& b) { return a.stack < b.stack; });
    if (begin == end) return none;
    return static_cast<std::size_t>(begin - blocks_.begin()) + below(static_cast<std::size_t>(end - begin));
}

/// The block that has this relation to another; none: it is not listed, or not of the relation's second stack.
std::size_t block_choice::partner_of(std::size_t index, const relation& by) const {
    const listed_block& first = blocks_[index];
    if (by.choice == window_choice::successive) {
        const auto found = by_name_.find(first.name + by.distance);
        return found == by_name_.end() || blocks_[found->second].stack != by.second ? none : found->second;
    }
    const listed_block wanted{.stack = by.second, .ordinal = first.ordinal};
    const auto found =
        std::lower_bound(blocks_.begin(), blocks_.end(), wanted,
                         [](const listed_block& a, const listed_block& b) { return place_of(a) < place_of(b); });
    if (found == blocks_.end() || place_of(*found) != place_of(wanted)) return none;
    return static_cast<std::size_t>(found - blocks_.begin());
}

bool block_choice::choose_relation(relation& to) {
    constexpr std::size_t max_tries = 32, max_distance = 6;
    if (!near_.empty() && below(2) == 0) {
        to = near_[below(near_.size())];
        return true;
    }
    for (std::size_t turn = 0; turn < max_tries; ++turn) {
        const std::size_t index = below(blocks_.size());
        const listed_block& first = blocks_[index];
        if (is_passed_over(first.stack)) continue;
        if (below(2) == 0) {
            const std::uint64_t distance = 1 + below(max_distance);
            const auto found = by_name_.find(first.name + distance);
            if (found == by_name_.end() || is_passed_over(blocks_[found->second].stack)) continue;
            to = {window_choice::successive, distance, first.stack, blocks_[found->second].stack};
            return true;
        }
        const auto [begin, end] =
            std::equal_range(by_ordinal_.begin(), by_ordinal_.end(), std::pair(first.ordinal, std::uint32_t{0}),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
        const listed_block& second =
            blocks_[begin[static_cast<std::ptrdiff_t>(below(static_cast<std::size_t>(end - begin)))].second];
        if (second.stack == first.stack || is_passed_over(second.stack)) continue;
        to = {window_choice::matched, 0, first.stack, second.stack};
        return true;
    }
    return false;
}

chosen_window block_choice::random_window() {
    chosen_window made;
    while (made.blocks.size() < max_blocks && made.blocks.size() < blocks_.size()) {
        const listed_block& each = blocks_[below(blocks_.size())];
        const auto is_this = [&](const chosen_block& one) { return one.block.name == each.name; };
        if (std::none_of(made.blocks.begin(), made.blocks.end(), is_this)) made.blocks.push_back({each});
    }
    return made;
}

chosen_window block_choice::couples_of(const relation& by) {
    constexpr std::size_t max_tries = 32;
    chosen_window made{by.choice, by.distance, {}};
    for (std::size_t turn = 0; turn < max_tries && made.blocks.size() < max_blocks; ++turn) {
        const std::size_t first = any_of_stack(by.first);
        const std::size_t second = first == none ? none : partner_of(first, by);
        if (second == none) continue;
        const auto is_there = [&](const chosen_block& one) {
            return one.block.name == blocks_[first].name || one.block.name == blocks_[second].name;
        };
        if (std::any_of(made.blocks.begin(), made.blocks.end(), is_there)) continue;
        made.blocks.push_back({blocks_[first]});
        made.blocks.push_back({blocks_[second]});
    }
    return made;
}

chosen_window block_choice::next() {
    if (blocks_.size() < 2) return {};
    relation by{};
    const bool has_relation = below(5) >= 2 && choose_relation(by);
    chosen_window made = has_relation ? couples_of(by) : random_window();
    if (made.blocks.empty()) made = random_window();
    // The first word of a block is often that which is touched; other words are looked at as often.
    constexpr std::uint64_t word = 8, most_bytes = 64;
    const bool is_first_word = below(2) == 0;
    for (chosen_block& each : made.blocks) {
        const std::uint64_t words = std::min(each.block.bytes, most_bytes) / word;
        each.offset = is_first_word ? 0 : static_cast<std::uint32_t>(below(static_cast<std::size_t>(words)) * word);
    }
    return made;
}

/// Most draws of a stack whose blocks were watched often, and not touched, are drawn again.
bool block_choice::is_passed_over(std::uint32_t stack) {
    constexpr std::uint32_t often = 12;
    const auto found = stacks_.find(stack);
    return found != stacks_.end() && found->second.watched >= often && found->second.touched == 0 && below(8) != 0;
}

void block_choice::learn(const chosen_window& of, std::span<const std::uint32_t> counts, std::span<const bool> near) {
    constexpr std::size_t max_stacks = 100'000, max_near = 64;
    for (std::size_t index = 0; index < of.blocks.size() && stacks_.size() < max_stacks; ++index) {
        seen& stack = stacks_[of.blocks[index].block.stack];
        ++stack.watched;
        stack.touched += std::uint32_t{counts[index] != 0};
    }
    if (of.choice == window_choice::random) return;
    for (std::size_t index = 0; index + 1 < of.blocks.size(); index += 2) {
        const relation found{of.choice, of.distance, of.blocks[index].block.stack, of.blocks[index + 1].block.stack};
        if (!near[index / 2] || std::find(near_.begin(), near_.end(), found) != near_.end()) continue;
        if (near_.size() == max_near) near_.erase(near_.begin());
        near_.push_back(found);
    }
}

}
