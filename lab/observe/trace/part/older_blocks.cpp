// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/part/older_blocks.hpp"

#include <algorithm>
#include <tuple>

namespace tenure::lab {

using what = chunk_event::what;

void older_blocks::add(const older_block& block) {
    const auto freed = early_.find(block.name);
    if (freed == early_.end()) {
        in_use_.insert_or_assign(block.name, block);
        return;
    }
    const early_free by = freed->second;
    early_.erase(freed);
    const auto origin = block.is_known ? early_.end() : early_.find(block.first);
    if (origin != early_.end()) {
        origin->second.is_resized = by.is_resized;
        origin->second.next = by.next;
    }
    const auto now = by.is_resized ? in_use_.find(by.next) : in_use_.end();
    if (now == in_use_.end()) return;
    const older_block later = now->second;
    now->second = block;
    now->second.name = later.name;
    now->second.bytes = later.bytes;
}

std::optional<older_block> older_blocks::take(const block_name& name) {
    const auto found = in_use_.find(name);
    if (found == in_use_.end()) return std::nullopt;
    const older_block taken = found->second;
    in_use_.erase(found);
    return taken;
}

void older_blocks::free(const early_free& by) {
    const std::optional<older_block> block = take(by.name);
    if (!block) {
        early_.emplace(by.name, by);
    } else if (const auto origin = early_.find(block->first); !block->is_known && origin != early_.end()) {
        origin->second.is_resized = false;
    }
}

void older_blocks::resize(const early_free& by, const older_block& anew) {
    older_block block = anew; // of malloc, if nothing tells what it was
    if (const std::optional<older_block> before = take(by.name)) {
        block = *before;
        const auto origin = early_.find(block.first);
        if (!block.is_known && origin != early_.end()) origin->second.next = anew.name;
    } else {
        block.is_known = false;
        block.first = by.name;
        early_.insert_or_assign(by.name, by);
    }
    block.name = anew.name;
    block.bytes = anew.bytes;
    add(block);
}

bool older_blocks::read(const trace_format::file_header& file, const trace_format::chunk_header& chunk,
                        std::string_view payload) {
    chunk_events events(file, chunk, payload);
    for (chunk_event event; events.next(event);) {
        const block_name name{chunk.thread, event.number};
        switch (event.is) {
        case what::allocate:
            add({name, event.bytes, event.ticks, event.stack, event.family, event.alignment_log2, name});
            break;
        case what::resize:
            resize({event.block, chunk.thread, event.stack, true, name},
                   {name, event.bytes, event.ticks, event.stack, trace_family::malloc, 4, name});
            break;
        case what::deallocate: free({event.block, chunk.thread, event.stack}); break;
        case what::stack:
            if (!stacks_.add(event.stack, events.frames())) return false;
            break;
        default: break;
        }
        if (in_use_.size() + early_.size() > max_blocks_) return false;
    }
    return !events.is_damaged();
}

std::vector<older_block> older_blocks::take_in_use() {
    std::vector<older_block> all;
    all.reserve(in_use_.size());
    std::erase_if(in_use_, [&](const auto& each) {
        if (each.second.is_known) all.push_back(each.second);
        return each.second.is_known;
    });
    in_use_.rehash(0); // the table of places
    std::sort(all.begin(), all.end(), [](const older_block& a, const older_block& b) {
        return std::tuple(a.ticks, a.first.thread, a.first.number) <
               std::tuple(b.ticks, b.first.thread, b.first.number);
    });
    return all;
}

const older_block* older_blocks::find(const block_name& name) const {
    const auto found = in_use_.find(name);
    return found == in_use_.end() ? nullptr : &found->second;
}

const early_free* older_blocks::freed_early(const block_name& name) const {
    const auto found = early_.find(name);
    return found == early_.end() ? nullptr : &found->second;
}

}
