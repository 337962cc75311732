// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/trace_merger.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/letters.hpp"

namespace tenure::lab {

using what = chunk_event::what;

trace_merger::trace_merger(const trace_chunks& file, trace& to, const trace_limits& limits, access_chunks& accesses,
                           older_blocks* before)
    : file_(file), to_(to), room_(limits.events), budget_{limits.payload_bytes}, mark_bytes_(limits.mark_bytes),
      accesses_(accesses), before_(before), own_stacks_(limits.stack_bytes),
      stacks_(before != nullptr ? before->stacks() : own_stacks_), clock_(file.header) {
    for (const trace_chunk& each : file.all) {
        clock_.see(each.header);
        if (each.header.kind != trace_format::chunk_kind::events) continue;
        const auto [found, is_new] = by_thread_.try_emplace(each.header.thread, streams_.size());
        if (is_new) streams_.emplace_back(file.header, budget_, each.header.thread);
        streams_[found->second].add(each);
    }
    waiting_.resize(streams_.size());
    is_listed_.resize(streams_.size());
}

void trace_merger::read_stacks() {
    std::string buffer, why;
    std::string_view payload;
    for (const trace_chunk& each : file_.all) {
        if (each.header.kind != trace_format::chunk_kind::events || !payload_of(each, buffer, payload, why)) continue;
        chunk_events events(file_.header, each.header, payload);
        for (chunk_event event; !stacks_.is_full() && events.next(event);)
            if (event.is == what::stack) stacks_.add(event.stack, events.frames());
    }
    if (stacks_.is_full() && to_.damage.empty())
        to_.damage = "The file has more call stacks than fit into memory: later ones were left out.";
    to_.stacks = stacks_.take();
}

std::uint32_t trace_merger::thread_number(std::uint32_t id) {
    const auto [found, is_new] = threads_.try_emplace(id, to_.threads);
    if (is_new) ++to_.threads;
    return found->second;
}

void trace_merger::put_older() {
    const std::vector<older_block> all = before_->take_in_use();
    // Here each takes as much memory as two events.
    room_ -= std::min<std::uint64_t>(room_, all.size());
    to_.older_blocks = all.size();
    to_.events.reserve(all.size() + all.size() / 8); // for a short part behind them too
    blocks_.reserve(all.size());
    older_.reserve(all.size());
    for (const older_block& each : all) {
        trace_event event;
        event.block = blocks_.size();
        event.bytes = each.bytes;
        event.family = each.family;
        event.alignment_log2 = each.alignment_log2;
        event.time_ns = clock_.time_of(each.ticks);
        event.thread = thread_number(each.first.thread);
        event.stack = stacks_.index_of(each.stack);
        older_.emplace(each.name, event.block);
        accesses_.see(each.name, event.block, to_.events.size());
        blocks_.push_back({each.bytes, each.family, each.alignment_log2});
        to_.events.push_back(event);
    }
}

thread_stream* trace_merger::stream_of(std::uint32_t thread) {
    const auto found = by_thread_.find(thread);
    return found == by_thread_.end() ? nullptr : &streams_[found->second];
}

/// Whether the next event of a stream names a block that another stream has still to allocate. Then it waits there.
bool trace_merger::waits(std::size_t index) {
    thread_stream& stream = streams_[index];
    const chunk_event& event = stream.now();
    if ((event.is != what::deallocate && event.is != what::resize) || stream.is_forced) return false;
    thread_stream* const owner = stream_of(event.block.thread);
    if (owner == nullptr || owner == &stream || owner->is_over() || event.block.number < owner->passed()) return false;
    const std::size_t of = by_thread_.at(event.block.thread);
    if (!is_listed_[of]) waited_for_.push_back(of);
    is_listed_[of] = true;
    waiting_[of].emplace(event.block.number, index);
    return true;
}

void trace_merger::wake(std::size_t owner, bool all) {
    queue& those = waiting_[owner];
    while (!those.empty() && (all || those.top().first < streams_[owner].passed())) {
        const std::size_t index = those.top().second;
        those.pop();
        ready_.emplace(streams_[index].now().ticks, index);
    }
}

/// Threads that wait for one another in a circle: the file is damaged. One of them goes on. Returns   false if none
/// waits.
bool trace_merger::force_one() {
    while (!waited_for_.empty() && waiting_[waited_for_.back()].empty()) {
        is_listed_[waited_for_.back()] = false;
        waited_for_.pop_back();
    }
    if (waited_for_.empty()) return false;
    queue& those = waiting_[waited_for_.back()];
    const std::size_t index = those.top().second;
    those.pop();
    streams_[index].is_forced = true;
    ready_.emplace(streams_[index].now().ticks, index);
    if (to_.damage.empty()) to_.damage = "The file is damaged: threads free blocks before they are allocated.";
    return true;
}

bool trace_merger::take_block(const block_name& name, std::uint64_t& block) {
    if (!older_.empty()) {
        if (const auto older = older_.find(name); older != older_.end()) {
            block = older->second;
            older_.erase(older);
            return true;
        }
    }
    thread_stream* const owner = stream_of(name.thread);
    block = owner == nullptr ? thread_stream::no_block : owner->block_of(name.number);
    if (block == thread_stream::no_block) return false;
    owner->forget(name.number);
    return true;
}

void trace_merger::put_allocation(thread_stream& from, const chunk_event& event, trace_event& to) {
    to.call = trace_call::allocate;
    to.block = blocks_.size();
    blocks_.push_back({event.bytes, event.family, event.alignment_log2});
    from.set_block(event.number, to.block);
    accesses_.see({from.id(), event.number}, to.block, to_.events.size());
}

void trace_merger::put_resize(thread_stream& from, const chunk_event& event, trace_event& to) {
    std::uint64_t block = 0;
    if (!take_block(event.block, block)) {
        ++to_.unknown_frees;
        return put_allocation(from, event, to);
    }
    to.call = trace_call::resize;
    to.block = block;
    to.family = blocks_[block].family;
    to.alignment_log2 = blocks_[block].alignment_log2;
    blocks_[block].bytes = event.bytes;
    from.set_block(event.number, block);
    accesses_.see({from.id(), event.number}, block, to_.events.size());
}

void trace_merger::put_mark(const chunk_event& event, trace_event& to) {
    to.call = trace_call::mark;
    constexpr std::size_t max_bytes = 4096; // the recorder writes up to 256
    to.block = index_of_mark(printable(event.name.substr(0, max_bytes)));
}

/// Past the limit the mark stays, because a phase begins there, and new names are one.
std::uint64_t trace_merger::index_of_mark(std::string name) {
    constexpr std::string_view no_name = "(name left out)";
    constexpr std::uint64_t bytes_of_mark = 160; // of a node, and of a string with the unused part of the vector
    if (const auto known = marks_.find(name); known != marks_.end()) return known->second;
    const std::uint64_t bytes = bytes_of_mark + 2 * name.size();
    if (bytes > mark_bytes_) {
        mark_bytes_ = 0;
        if (to_.damage.empty())
            to_.damage = "The file has more names of marks than are read: later ones were left out.";
        name = no_name;
    } else {
        mark_bytes_ -= bytes;
    }
    const auto [found, is_new] = marks_.try_emplace(std::move(name), to_.marks.size());
    if (is_new) to_.marks.push_back(found->first);
    return found->second;
}

void trace_merger::put(thread_stream& from, const chunk_event& event) {
    trace_event to;
    to.bytes = event.bytes;
    to.family = event.family;
    to.alignment_log2 = event.alignment_log2;
    switch (event.is) {
    case what::allocate: put_allocation(from, event, to); break;
    case what::resize: put_resize(from, event, to); break;
    case what::deallocate:
        if (!take_block(event.block, to.block)) {
            ++to_.unknown_frees;
            return;
        }
        to.call = trace_call::deallocate;
        to.bytes = blocks_[to.block].bytes;
        to.family = blocks_[to.block].family;
        to.alignment_log2 = blocks_[to.block].alignment_log2;
        break;
    case what::frame: to.call = trace_call::frame; break;
    case what::mark: put_mark(event, to); break;
    default: ++to_.unknown_frees; return;
    }
    if (!from.has_thread) from.thread = thread_number(from.id());
    from.has_thread = true;
    from.last_ns = std::max(from.last_ns, clock_.time_of(event.ticks));
    to.time_ns = from.last_ns;
    to.thread = from.thread;
    to.stack = stacks_.index_of(event.stack);
    to_.events.push_back(to);
    if (before_ == nullptr || to.call == trace_call::deallocate || to.call > trace_call::resize) return;
    if (const early_free* const freed = before_->freed_early({from.id(), event.number})) put_early_free(*freed, to);
}

/// A chunk before the part has freed or resized the block: chunks of several threads overlap.
void trace_merger::put_early_free(const early_free& of, trace_event event) {
    std::uint64_t block = 0;
    if (!take_block(of.name, block)) return;
    thread_stream* const stream = stream_of(of.thread);
    event.call = trace_call::deallocate;
    if (of.is_resized) {
        const older_block* const now = before_->find(of.next);
        if (now == nullptr) return;
        event.call = trace_call::resize;
        event.bytes = blocks_[block].bytes = now->bytes;
        older_.emplace(of.next, block);
        accesses_.see(of.next, block, to_.events.size());
    }
    event.thread = thread_number(of.thread);
    event.stack = stacks_.index_of(of.stack);
    if (stream != nullptr) event.time_ns = stream->last_ns = std::max(stream->last_ns, event.time_ns);
    to_.events.push_back(event);
}

void trace_merger::serve(std::size_t index) {
    thread_stream& stream = streams_[index];
    // The others have their turn when their time has come.
    while (!stream.is_over() && to_.events.size() < room_) {
        if (waits(index)) return;
        if (!ready_.empty() && ready_.top() < turn{stream.now().ticks, index}) {
            ready_.emplace(stream.now().ticks, index);
            return;
        }
        put(stream, stream.now());
        stream.is_forced = false;
        stream.advance(to_.damage);
        wake(index, stream.is_over());
    }
}

void trace_merger::run() {
    if (file_.header.stack_frames != 0) read_stacks();
    if (before_ != nullptr) put_older();
    for (std::size_t index = 0; index < streams_.size(); ++index) {
        streams_[index].begin(to_.damage, before_ != nullptr);
        if (!streams_[index].is_over()) ready_.emplace(streams_[index].now().ticks, index);
    }
    do {
        while (!ready_.empty() && to_.events.size() < room_) {
            const std::size_t index = ready_.top().second;
            ready_.pop();
            serve(index);
        }
    } while (to_.events.size() < room_ && force_one());
    to_.blocks = blocks_.size();
    if (to_.events.size() < room_) return;
    to_.damage =
        before_ == nullptr
            ? fmt::format("The file has more than {} events: later ones do not fit into memory, and were left out.",
                          room_)
            : "The part, with the blocks in use before it, does not fit into memory: later events were left out.";
}

}
