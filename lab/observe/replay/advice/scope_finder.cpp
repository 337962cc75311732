// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/advice/scope_finder.hpp"

#include <algorithm>
#include <vector>

namespace tenure::lab {

namespace {

constexpr std::uint64_t max_look_ahead = 20'000; ///< events after a burst: a scope with more is too long

}

/// Whether a stack may lack its outer frames: then nothing says which of them others share.
bool scope_finder::is_cut_short(std::uint32_t stack) const {
    return recorded_.stack_frames != 0 && recorded_.stacks[stack].frames.size() >= recorded_.stack_frames;
}

const scope_finder::relation& scope_finder::relate(std::uint32_t stack, std::uint32_t other) {
    const auto [found, is_new] = known_.try_emplace(std::uint64_t{stack} << 32 | other);
    relation& made = found->second;
    if (!is_new) return made;
    const std::vector<std::uint64_t>& own = recorded_.stacks[stack].frames;
    const std::vector<std::uint64_t>& others = recorded_.stacks[other].frames;
    if (stack != other && (is_cut_short(stack) || is_cut_short(other))) return made;
    const std::size_t least = std::min(own.size(), others.size());
    while (made.shared < least && own[own.size() - 1 - made.shared] == others[others.size() - 1 - made.shared])
        ++made.shared;
    if (made.shared == own.size() || made.shared == others.size()) return made;
    made.own = own[own.size() - 1 - made.shared];
    made.other = others[others.size() - 1 - made.shared];
    made.is_other_function = false;
    if (!functions_) return made;
    const std::uint64_t function = functions_(made.own);
    made.is_other_function = function == 0 || function != functions_(made.other);
    return made;
}

/// Follows a thread from an allocation on.
class scope_finder::progress {
public:
    explicit progress(const std::vector<std::uint64_t>& frames) : frames_(frames), outer_(frames.size()) {}

    void follow(const relation& to) {
        // A call that reaches another function than before is made again: the caller has gone on.
        const bool is_apart = to.shared < frames_.size();
        const std::size_t shared =
            is_apart && to.is_other_function ? std::max<std::size_t>(to.shared, 1) - 1 : to.shared;
        if (shared > outer_ || !is_apart) return enter_again();
        if (shared < outer_) {
            outer_ = shared;
            is_doubtful_ = to.is_other_function || to.other <= to.own;
            place_ = to.is_other_function ? own() : to.other;
            return;
        }
        if (to.is_other_function) {
            is_doubtful_ = true;
            return;
        }
        is_doubtful_ = is_doubtful_ || to.other < place_;
        place_ = to.other;
    }

    /// Frames from the innermost to the one in which the thread has moved on, counted from 0.
    [[nodiscard]] std::size_t frame() const { return outer_ < frames_.size() ? frames_.size() - 1 - outer_ : 0; }
    [[nodiscard]] bool has_moved() const { return outer_ < frames_.size(); }
    [[nodiscard]] bool is_doubtful() const { return is_doubtful_; }
    [[nodiscard]] bool is_outside() const { return outer_ == 0; } ///< nothing is in common any more

private:
    [[nodiscard]] std::uint64_t own() const { return frames_[frames_.size() - 1 - outer_]; }
    /// The thread is behind the call again that led to the allocation.
    void enter_again() {
        if (!has_moved()) return;
        is_doubtful_ = is_doubtful_ || own() < place_;
        place_ = own();
    }

    const std::vector<std::uint64_t>& frames_;
    std::size_t outer_;       // frames in common with everything seen
    std::uint64_t place_ = 0; // how far the innermost function in common has come
    bool is_doubtful_ = false;
};

found_scope scope_finder::scope_of(const group_burst& burst, std::size_t least) {
    const std::uint64_t events = recorded_.events.size();
    found_scope found{no_frame, no_frame, events, false};
    const std::uint32_t stack = lives_[group_.blocks[burst.first]].born.stack;
    if (group_.stack == 0 || stack == 0) return found;
    const std::uint32_t thread = recorded_.events[burst.begin].thread;
    progress at(recorded_.stacks[stack].frames);
    found.inner = 0;
    for (std::uint64_t i = burst.begin; i < events; ++i) {
        const trace_event& event = recorded_.events[i];
        const bool is_over = burst.end != never && i >= burst.end;
        if (is_over && i - burst.end > max_look_ahead) return found;
        const bool is_seen = event.thread == thread && event.stack != 0;
        if (is_seen) {
            at.follow(relate(stack, event.stack));
            if (at.is_outside()) return found;
        }
        if (burst.end == never || i <= burst.end) found.inner = at.frame();
        if (!is_over || !is_seen || !at.has_moved() || at.is_doubtful() || at.frame() < least) continue;
        if (at.frame() >= group_.depth) return found;
        // An event that frees the last block is in the scope.
        return {at.frame(), found.inner, i == burst.end ? i + 1 : i, true};
    }
    if (found.inner < group_.depth) found.frame = std::max(found.inner, least);
    return found;
}

}
