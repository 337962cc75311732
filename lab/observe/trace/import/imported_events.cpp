// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/import/imported_events.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::lab {

std::uint64_t imported_events::allocate(const imported_call& call, std::uint64_t bytes) {
    return has_room(call) ? put_new(call, bytes) : no_block;
}

void imported_events::deallocate(const imported_call& call, std::uint64_t block) {
    if (has_room(call)) put(trace_call::deallocate, call, block);
}

void imported_events::allocate_at(std::uint64_t address, const imported_call& call, std::uint64_t bytes) {
    if (!has_room(call)) return;
    if (const std::uint64_t before = take_from(address); before != no_block) put(trace_call::deallocate, call, before);
    addresses_.emplace(address, put_new(call, bytes));
}

void imported_events::deallocate_at(std::uint64_t address, const imported_call& call) {
    if (!has_room(call)) return;
    const std::uint64_t block = take_from(address);
    block != no_block ? put(trace_call::deallocate, call, block) : unknown_free();
}

void imported_events::resize_at(std::uint64_t old_address, std::uint64_t address, const imported_call& call,
                                std::uint64_t bytes) {
    if (!has_room(call)) return;
    const std::uint64_t block = take_from(old_address);
    if (block == no_block) {
        unknown_free();
        return allocate_at(address, call, bytes);
    }
    if (const std::uint64_t before = take_from(address); before != no_block) put(trace_call::deallocate, call, before);
    blocks_[block].bytes = bytes;
    put(trace_call::resize, call, block);
    addresses_.emplace(address, block);
}

void imported_events::finish() {
    std::uint64_t first_ns = max_time_ns;
    for (const trace_event& each : to_.events) first_ns = std::min(first_ns, each.time_ns);
    for (trace_event& each : to_.events) each.time_ns -= first_ns;
    to_.threads = static_cast<std::uint32_t>(last_ns_.size());
}

bool imported_events::has_room(const imported_call& call) {
    if (!why_full_.empty()) return false;
    constexpr std::size_t most_events_of_call = 2;
    if (to_.events.size() + most_events_of_call > limits_.events)
        why_full_ =
            fmt::format("The recording has more than {} events, for which there is no memory.", to_.events.size());
    else if (last_ns_.size() >= limits_.threads && !threads_.contains(call.thread))
        why_full_ = fmt::format("The recording has more than {} threads.", limits_.threads);
    return why_full_.empty();
}

std::uint64_t imported_events::put_new(const imported_call& call, std::uint64_t bytes) {
    const std::uint64_t block = to_.blocks++;
    blocks_.push_back({bytes, call.family, call.alignment_log2});
    put(trace_call::allocate, call, block);
    return block;
}

void imported_events::put(trace_call what, const imported_call& call, std::uint64_t block) {
    const auto [thread, is_new] = threads_.try_emplace(call.thread, static_cast<std::uint32_t>(last_ns_.size()));
    if (is_new) last_ns_.push_back(0);
    std::uint64_t& last_ns = last_ns_[thread->second];
    last_ns = std::max(last_ns, std::min(call.time_ns, max_time_ns));
    const facts& of = blocks_[block];
    trace_event made;
    made.block = block;
    made.bytes = of.bytes;
    made.time_ns = last_ns;
    made.thread = thread->second;
    made.stack = what == trace_call::deallocate ? 0 : call.stack;
    made.call = what;
    made.family = of.family;
    made.alignment_log2 = of.alignment_log2;
    to_.events.push_back(made);
}

std::uint64_t imported_events::take_from(std::uint64_t address) {
    const auto found = addresses_.find(address);
    if (found == addresses_.end()) return no_block;
    const std::uint64_t block = found->second;
    addresses_.erase(found);
    return block;
}

}
