// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A scope holds every burst that begins before it ends, as it does in the program: what counts are its bytes, and
/// those of a burst are only a part of them.

#include "observe/replay/advice/temp_scopes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

namespace tenure::lab {

namespace {

class scope_learner {
public:
    scope_learner(const trace& recorded, const block_group& group, std::span<const block_life> lives,
                  const code_functions& functions)
        : recorded_(recorded), group_(group), finder_(recorded, group, lives, functions),
          half_(group.bursts.size() / 2), thread_(lives[group.blocks.front()].born.thread) {
        found_.where = group.stack == 0 ? scope_place::phase : scope_place::function;
        if (found_.where != scope_place::phase) return;
        for (std::uint64_t i = 0; i < recorded.events.size(); ++i)
            if (recorded.events[i].call == trace_call::mark && recorded.events[i].thread == thread_)
                marks_.push_back(i);
    }

    temp_scopes make() {
        const bool is_told = found_.where == scope_place::phase ? !marks_.empty() : learn_frame();
        if (!is_told) {
            found_.refusal =
                "its blocks are short-lived, but the trace does not tell where a scope could stand: record "
                "it with call stacks (--stacks 32), frames (tn_next_frame) or marks";
            return std::move(found_);
        }
        for (std::size_t i = 0; i < group_.bursts.size() && found_.refusal.empty();) i = add_scope(i);
        if (found_.refusal.empty() && found_.where == scope_place::function) grade();
        return std::move(found_);
    }

private:
    /// A function that holds all scopes of the first half. One that needs a frame further out moves all of them there.
    bool learn_frame() {
        for (bool is_known = false; !is_known;) {
            is_known = true;
            std::uint64_t end = 0;
            for (std::size_t i = 0; i < half_; ++i) {
                if (group_.bursts[i].begin < end && group_.bursts[i].end < end) continue;
                const found_scope scope = finder_.scope_of(group_.bursts[i], found_.frame);
                if (scope.frame == scope_finder::no_frame || !scope.is_told) return false;
                by_frees_ = by_frees_ && scope.by_frees;
                inner_ = std::max(inner_, scope.inner);
                is_known = is_known && scope.frame <= found_.frame;
                found_.frame = std::max(found_.frame, scope.frame);
                end = scope.end;
            }
        }
        return true;
    }

    /// Whether a scope holds the burst. `end`: then, when it ends.
    bool holds(const group_burst& burst, std::uint64_t& end) {
        const std::uint64_t events = recorded_.events.size();
        if (found_.where == scope_place::phase) {
            const auto next = std::upper_bound(marks_.begin(), marks_.end(), burst.begin);
            end = next == marks_.end() ? events : *next;
            return burst.end == never ? end == events : burst.end < end;
        }
        const found_scope scope = finder_.scope_of(burst, found_.frame);
        end = scope.end;
        by_frees_ = by_frees_ && (scope.by_frees || burst.end == never);
        // In no scope of the first half the thread went further while blocks were in use.
        if (scope.inner > inner_) return false;
        // A program may end in the middle of its work: what it had in use then was in a scope that it has not left.
        return burst.end == never || scope.frame <= found_.frame;
    }

    /// Adds the scope that begins with a burst. Returns   the first burst after it.
    std::size_t add_scope(std::size_t first) {
        const std::uint64_t begin = group_.bursts[first].begin;
        std::uint64_t end = 0, bytes = 0, blocks = 0;
        bool is_held = true;
        std::size_t i = first;
        for (; i < group_.bursts.size() && (i == first || group_.bursts[i].begin < end) && is_held; ++i) {
            const group_burst& burst = group_.bursts[i];
            bytes += burst.bytes;
            blocks += burst.blocks;
            if (burst.end < end) continue;
            std::uint64_t later = 0;
            is_held = holds(burst, later);
            end = std::max(end, later);
        }
        if (!is_held) refuse_escape(first, blocks);
        if (is_held && (end - begin > max_temp_events || bytes > max_temp_bytes)) refuse_size(end - begin, bytes);
        (first < half_ ? found_.learned_on : found_.checked_on) += blocks;
        found_.longest = std::max(found_.longest, end - begin);
        firsts_.push_back(first);
        found_.all.push_back({begin, end == recorded_.events.size() ? never : end, thread_});
        return i;
    }

    void grade() {
        if (!by_frees_) return;
        found_.proof = scope_proof::frees;
        for (std::size_t i = 1; i < found_.all.size(); ++i)
            if (!finder_.is_left(group_.bursts[firsts_[i]], found_.frame, found_.all[i - 1].end)) return;
        if (found_.all.size() > 1) found_.proof = scope_proof::separate_calls;
    }

    void refuse_escape(std::size_t first, std::uint64_t blocks) {
        if (first < half_)
            found_.refusal = "its blocks are short-lived, but they do not end with a function or a phase";
        else
            found_.refusal =
                fmt::format("it seems to fit Temp, but of the second half {} blocks outlive the scope that "
                            "the first half would have",
                            blocks);
    }
    void refuse_size(std::uint64_t events, std::uint64_t bytes) {
        found_.refusal = fmt::format("its blocks are short-lived, but a scope that ends after them holds {} bytes and "
                                     "lasts {} events; Temp is for {} bytes and {} events",
                                     bytes, events, max_temp_bytes, max_temp_events);
    }

    const trace& recorded_;
    const block_group& group_;
    scope_finder finder_;
    std::size_t half_, inner_ = 0;
    std::uint32_t thread_;
    bool by_frees_ = true;
    std::vector<std::size_t> firsts_;  // of each scope: its first burst
    std::vector<std::uint64_t> marks_; // events of the thread: another's phases are not its own
    temp_scopes found_;
};

}

temp_scopes temp_scopes_of(const trace& recorded, const block_group& group, std::span<const block_life> lives,
                           const code_functions& functions) {
    return scope_learner(recorded, group, lives, functions).make();
}

bool outlives(const block_group& group, std::span<const block_life> lives, std::span<const temp_scope_time> scopes) {
    return std::any_of(group.blocks.begin(), group.blocks.end(), [&](std::uint64_t block) {
        const block_life& life = lives[block];
        // The last scope that begins before the block.
        const auto after =
            std::upper_bound(scopes.begin(), scopes.end(), life.born.event,
                             [](std::uint64_t event, const temp_scope_time& each) { return event < each.begin; });
        if (after == scopes.begin()) return false;
        const temp_scope_time& scope = *std::prev(after);
        return scope.thread == life.born.thread && life.born.event < scope.end && scope.end != never &&
               life.died.event >= scope.end;
    });
}

std::vector<temp_scope_time> nested(std::vector<temp_scope_time> scopes) {
    // The one that begins first is next, and of several that ends last.
    const auto is_later = [](const temp_scope_time& a, const temp_scope_time& b) {
        return a.begin != b.begin ? a.begin > b.begin : a.end < b.end;
    };
    std::priority_queue waiting(is_later, std::move(scopes));
    std::map<std::uint32_t, std::vector<temp_scope_time>> open; // by thread
    std::vector<temp_scope_time> made;
    while (!waiting.empty()) {
        temp_scope_time next = waiting.top();
        waiting.pop();
        std::vector<temp_scope_time>& around = open[next.thread];
        while (!around.empty() && around.back().end <= next.begin) around.pop_back();
        if (!around.empty() && around.back().end < next.end) {
            waiting.push({around.back().end, next.end, next.thread});
            next.end = around.back().end;
        }
        around.push_back(next);
        made.push_back(next);
    }
    return made;
}

}
