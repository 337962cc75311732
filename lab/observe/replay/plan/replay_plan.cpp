// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// One walk that checks the trace and finds what blocks cross threads, and one that writes the operations.

#include "observe/replay/plan/replay_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenure::lab {

namespace {

constexpr std::uint64_t max_bytes = (std::uint64_t{1} << 47) - 1; // what x86-64 can address
constexpr std::uint32_t no_slot = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint8_t max_alignment_log2 = 30;

/// What is known of a block while the trace is walked.
struct block_state {
    std::uint64_t bytes = 0; ///< what the replayed block has
    std::uint64_t uses = 0;  ///< operations so far
    std::uint32_t slot = no_slot;
    std::uint32_t thread = 0; ///< that allocated it
    trace_family family = trace_family::malloc;
    std::uint8_t alignment_log2 = 4;
    enum : std::uint8_t { unborn, live, dead } life = unborn;
    bool crosses = false; ///< several threads use it
};

plan_call allocating(trace_family family) {
    switch (family) {
    case trace_family::malloc: return plan_call::allocate;
    case trace_family::zeroed: return plan_call::zeroed;
    case trace_family::aligned: return plan_call::aligned;
    case trace_family::operator_new: return plan_call::operator_new;
    case trace_family::aligned_new: return plan_call::aligned_new;
    }
    return plan_call::allocate;
}

plan_call freeing(trace_family family) {
    switch (family) {
    case trace_family::operator_new: return plan_call::operator_delete;
    case trace_family::aligned_new: return plan_call::aligned_delete;
    default: return plan_call::release;
    }
}

/// What contradicts itself in an event, as the end of a sentence; empty when nothing does.
std::string contradiction(const trace& recorded, const trace_event& event, const std::vector<block_state>& blocks) {
    if (event.thread >= recorded.threads)
        return fmt::format("is of thread {}, and the trace has {} threads", event.thread, recorded.threads);
    if (event.call == trace_call::frame || event.call == trace_call::mark) return {};
    if (event.block >= blocks.size())
        return fmt::format("is of block {}, and the trace has {} blocks", event.block, blocks.size());
    if (event.bytes > max_bytes) return fmt::format("has {} bytes, more than an address space has", event.bytes);
    if (event.alignment_log2 > max_alignment_log2)
        return fmt::format("has an alignment of 2^{} bytes", event.alignment_log2);
    const block_state& block = blocks[event.block];
    if (event.call == trace_call::allocate)
        return block.life == block_state::unborn
                   ? std::string{}
                   : fmt::format("allocates block {}, which was allocated before", event.block);
    if (block.life == block_state::live) return {};
    return fmt::format("{} block {}, which {}", event.call == trace_call::resize ? "resizes" : "frees", event.block,
                       block.life == block_state::dead ? "was freed before" : "was not allocated");
}

/// Checks the whole trace and finds the blocks that several threads use.
std::string check(const trace& recorded, std::vector<block_state>& blocks) {
    if (!recorded.ok()) return recorded.error;
    if (recorded.sample_bytes != 0)
        return "the trace has a sample of the program's blocks: a replay needs all. Record it without --sample";
    if (recorded.blocks >= no_slot)
        return fmt::format("the trace has {} blocks; replay takes 4 billion", recorded.blocks);
    if (recorded.blocks > recorded.events.size())
        return fmt::format("the trace says that it has {} blocks, but has {} events: it is damaged; record it again",
                           recorded.blocks, recorded.events.size());
    blocks.assign(recorded.blocks, {});
    std::uint64_t allocations = 0;
    for (std::size_t i = 0; i < recorded.events.size(); ++i) {
        const trace_event& event = recorded.events[i];
        if (const std::string wrong = contradiction(recorded, event, blocks); !wrong.empty())
            return fmt::format("event {} {}: the trace is damaged; record it again", i, wrong);
        if (event.call == trace_call::frame || event.call == trace_call::mark) continue;
        block_state& block = blocks[event.block];
        if (event.call == trace_call::allocate) {
            block.life = block_state::live;
            block.thread = event.thread;
            ++allocations;
        } else {
            block.crosses |= block.thread != event.thread;
            if (event.call == trace_call::deallocate) block.life = block_state::dead;
        }
    }
    if (allocations == 0)
        return "the trace has no allocation: there is nothing to replay. Record the program for longer";
    return {};
}

class planner {
public:
    planner(const trace& recorded, plan_threads how, const block_routes& redirected, std::vector<block_state> blocks)
        : recorded_(recorded), redirected_(redirected), blocks_(std::move(blocks)),
          has_threads_(how == plan_threads::recorded), in_use_(redirected.routes.size()), scopes_(redirected.scopes) {
        const std::size_t threads = has_threads_ ? recorded.threads : 1;
        ops_.resize(threads);
        free_slots_.resize(threads);
        slot_counts_.resize(threads);
        plan_.routes = redirected.routes;
        std::sort(scopes_.begin(), scopes_.end(), [](const temp_scope_time& a, const temp_scope_time& b) {
            return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; // the outer one first
        });
    }

    replay_plan make() {
        number_shared_blocks();
        if (!has_threads_) plan_.places.push_back({});
        for (std::uint64_t i = 0; i < recorded_.events.size() && plan_.ok(); ++i) {
            move_scopes(i);
            add(recorded_.events[i]);
            if (!has_threads_) mark_place(i);
        }
        add_peak_place();
        std::vector<std::size_t> counts;
        for (const std::vector<plan_op>& each : ops_) counts.push_back(each.size());
        const std::uint64_t calls = plan_.calls;
        free_what_is_left();
        move_scopes(std::numeric_limits<std::uint64_t>::max());
        plan_.calls = calls;
        join(counts);
        return std::move(plan_);
    }

private:
    /// Of blocks that cross threads each has a line of its own: the threads do not agree when one is free again, and
    /// one thread's next block must not slow down another's.
    void number_shared_blocks() {
        for (block_state& block : blocks_) {
            block.life = block_state::unborn;
            block.crosses = block.crosses && has_threads_;
            block.uses = 0;
            if (!block.crosses) continue;
            block.slot = static_cast<std::uint32_t>(plan_.shared_slot_count);
            plan_.shared_slot_count += line_slots;
        }
        if (plan_.shared_slot_count > no_slot)
            plan_.error = fmt::format("{} blocks cross threads; replay takes {}", plan_.shared_slot_count / line_slots,
                                      no_slot / line_slots);
    }

    /// Closes and opens the scopes of Temp that end or begin before an event.
    void move_scopes(std::uint64_t event) {
        while (!open_.empty() && open_.back().end <= event) {
            const temp_scope_time closed = open_.back();
            open_.pop_back();
            put(has_threads_ ? closed.thread : 0, plan_call::close, {});
            // Scopes of several threads close when one thread can close them.
            const bool crosses =
                !open_.empty() && open_.back().end < closed.end && open_.back().thread == closed.thread;
            if (crosses && plan_.ok()) plan_.error = "two scopes of Temp do not nest: one ends in the other";
        }
        for (; next_scope_ < scopes_.size() && scopes_[next_scope_].begin <= event; ++next_scope_) {
            open_.push_back(scopes_[next_scope_]);
            put(has_threads_ ? open_.back().thread : 0, plan_call::open, {});
            if (open_.size() > max_open_scopes && plan_.ok())
                plan_.error = fmt::format("more than {} scopes of Temp are open at once", max_open_scopes);
        }
    }

    /// The stage of the block's next operation; 0: no other thread uses it.
    [[nodiscard]] std::uint16_t next_stage(block_state& block) {
        if (!block.crosses) return 0;
        if (block.uses >= max_stages && plan_.ok())
            plan_.error = fmt::format("threads hand one block over {} times; replay takes {}", block.uses, max_stages);
        return stage_of(block.uses++);
    }

    [[nodiscard]] std::uint16_t route_of(std::uint64_t block) const {
        return redirected_.route_of_block.empty() ? std::uint16_t{0} : redirected_.route_of_block[block];
    }
    [[nodiscard]] route_kind kind_of(std::uint16_t route) const { return redirected_.routes[route].kind; }

    void put(std::size_t thread, plan_call call, plan_op op) {
        op.call = call;
        ops_[thread].push_back(op);
    }

    void add(const trace_event& event) {
        const std::size_t thread = has_threads_ ? event.thread : 0;
        if (event.call == trace_call::mark) return;
        if (event.call == trace_call::frame) {
            put(thread, plan_call::frame, {});
            return;
        }
        block_state& block = blocks_[event.block];
        plan_op op{};
        op.route = route_of(event.block);
        op.alignment_log2 = event.alignment_log2;
        ++plan_.calls;
        if (event.call == trace_call::allocate) return begin(thread, event, block, op);
        op.slot = block.slot;
        op.alignment_log2 = block.alignment_log2;
        op.stage = next_stage(block);
        if (event.call == trace_call::resize) return resize(thread, event, block, op);
        end(thread, block, op);
    }

    void begin(std::size_t thread, const trace_event& event, block_state& block, plan_op op) {
        const std::uint16_t route = op.route;
        block.life = block_state::live;
        block.family = event.family;
        block.alignment_log2 = event.alignment_log2;
        block.bytes = event.bytes;
        if (!redirected_.reserved_bytes.empty())
            block.bytes = std::max(block.bytes, redirected_.reserved_bytes[event.block]);
        if (!block.crosses) block.slot = take_slot(thread);
        op.slot = block.slot;
        op.set_bytes(block.bytes);
        op.stage = next_stage(block);
        ++plan_.blocks;
        block_bytes_asked(event.block) = event.bytes;
        if (route != 0) {
            ++in_use_[route];
            put(thread, event.family == trace_family::zeroed ? plan_call::take_zeroed : plan_call::take, op);
        } else if (block.bytes == event.bytes) {
            put(thread, allocating(event.family), op);
        } else {
            // Of the reserved room the program writes only what it asked for.
            put_written(thread, block.bytes);
            put(thread, allocating(event.family), op);
            op.set_bytes(event.bytes);
            op.stage = next_stage(block);
            put(thread, plan_call::keep, op);
        }
        grow(event.bytes);
    }

    /// The n-th of `plan_places` places is after this share of the events; the peak, wherever it is.
    void mark_place(std::uint64_t event) {
        const std::uint64_t done = event + 1, events = recorded_.events.size();
        now_ns_ = std::max(now_ns_, recorded_.events[event].time_ns);
        const plan_place here{ops_[0].size(), done, now_ns_, live_bytes_};
        if (plan_.peak_bytes > peak_place_.live_bytes) peak_place_ = here;
        const std::uint64_t places = std::min(events, plan_places);
        if (done * places / events != event * places / events) plan_.places.push_back(here);
    }

    void add_peak_place() {
        const auto at = std::lower_bound(plan_.places.begin(), plan_.places.end(), peak_place_,
                                         [](const plan_place& a, const plan_place& b) { return a.event < b.event; });
        const bool is_there = at != plan_.places.end() && at->event == peak_place_.event;
        if (!has_threads_ && peak_place_.event != 0 && !is_there) plan_.places.insert(at, peak_place_);
    }

    void put_written(std::size_t thread, std::uint64_t bytes) {
        plan_op op{};
        op.set_bytes(bytes);
        put(thread, plan_call::written, op);
    }

    void resize(std::size_t thread, const trace_event& event, block_state& block, plan_op op) {
        std::uint64_t& asked = block_bytes_asked(event.block);
        const bool has_room = event.bytes <= block.bytes && !redirected_.reserved_bytes.empty() &&
                              redirected_.reserved_bytes[event.block] != 0;
        put_written(thread, asked);
        op.set_bytes(event.bytes);
        put(thread, has_room ? plan_call::keep : plan_call::resize, op);
        if (!has_room) block.bytes = event.bytes;
        live_bytes_ -= asked;
        asked = event.bytes;
        grow(event.bytes);
    }

    void end(std::size_t thread, block_state& block, plan_op op) {
        const std::size_t index = static_cast<std::size_t>(&block - blocks_.data());
        block.life = block_state::dead;
        live_bytes_ -= block_bytes_asked(index);
        op.set_bytes(block.bytes);
        if (!block.crosses) free_slots_[thread].push_back(block.slot);
        const std::uint16_t route = op.route;
        if (route == 0) return put(thread, freeing(block.family), op);
        const bool was_last = --in_use_[route] == 0;
        switch (kind_of(route)) {
        case route_kind::temp: return put(thread, plan_call::drop, op);
        case route_kind::arena: {
            put(thread, plan_call::drop, op);
            plan_op clear{};
            clear.route = route;
            if (was_last) put(thread, plan_call::clear, clear);
            return;
        }
        default: return put(thread, plan_call::give, op);
        }
    }

    void grow(std::uint64_t bytes) {
        live_bytes_ += bytes;
        plan_.allocated_bytes += bytes;
        if (live_bytes_ <= plan_.peak_bytes) return;
        plan_.peak_bytes = live_bytes_;
        plan_.peak_op = ops_[0].size();
    }

    std::uint32_t take_slot(std::size_t thread) {
        std::vector<std::uint32_t>& free = free_slots_[thread];
        if (free.empty()) return slot_counts_[thread]++; // join() adds where the thread's slots begin
        const std::uint32_t slot = free.back();
        free.pop_back();
        return slot;
    }

    std::uint64_t& block_bytes_asked(std::uint64_t block) {
        if (asked_.empty()) asked_.resize(blocks_.size());
        return asked_[block];
    }

    /// In the order of allocation, as a program that ends without freeing gives no order.
    void free_what_is_left() {
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            block_state& block = blocks_[i];
            if (block.life != block_state::live) continue;
            ++plan_.left;
            plan_.left_bytes += block_bytes_asked(i);
            plan_op op{};
            op.route = route_of(i);
            op.slot = block.slot;
            op.stage = block.crosses ? stage_of(0) : std::uint16_t{0}; // one thread frees what is left: none waits
            op.alignment_log2 = block.alignment_log2;
            end(has_threads_ ? block.thread : 0, block, op);
        }
    }

    void join(const std::vector<std::size_t>& counts) {
        std::size_t all = 0;
        for (const std::vector<plan_op>& each : ops_) all += each.size();
        plan_.ops.reserve(all);
        std::uint64_t slots = plan_.shared_slot_count;
        for (std::size_t i = 0; i < ops_.size(); ++i) {
            const auto base = static_cast<std::uint32_t>(slots);
            for (plan_op& each : ops_[i])
                if (each.stage == 0) each.slot += base;
            slots += (slot_counts_[i] + std::uint64_t{line_slots} - 1) / line_slots * line_slots;
            plan_.threads.push_back({plan_.ops.size(), counts[i], ops_[i].size() - counts[i]});
            plan_.ops.insert(plan_.ops.end(), ops_[i].begin(), ops_[i].end());
            std::vector<plan_op>().swap(ops_[i]);
        }
        plan_.slot_count = slots;
        if (slots > no_slot && plan_.ok()) plan_.error = "too many blocks are in use at once for a replay";
    }

    const trace& recorded_;
    const block_routes& redirected_;
    std::vector<block_state> blocks_;
    bool has_threads_;
    replay_plan plan_;
    std::vector<std::vector<plan_op>> ops_; // by thread
    std::vector<std::vector<std::uint32_t>> free_slots_;
    std::vector<std::uint32_t> slot_counts_; // by thread
    std::vector<std::uint64_t> in_use_;      // blocks, by route
    std::vector<std::uint64_t> asked_;       // bytes, by block
    std::uint64_t live_bytes_ = 0, now_ns_ = 0;
    plan_place peak_place_;
    std::vector<temp_scope_time> scopes_, open_;
    std::size_t next_scope_ = 0;
};

}

replay_plan make_plan(const trace& recorded, plan_threads how, const block_routes& redirected) {
    std::vector<block_state> blocks;
    replay_plan refused;
    refused.error = check(recorded, blocks);
    if (!refused.ok()) return refused;
    return planner(recorded, how, redirected, std::move(blocks)).make();
}

}
