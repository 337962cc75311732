// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/advice/scope_finder.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "observe/replay/advice/free_places.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t max_look_ahead = 20'000; ///< events after a burst: a scope with more is too long

/// What these rules look at: frees have no stacks in all traces.
[[nodiscard]] bool has_place(const trace_event& event) {
    return event.stack != 0 && event.call != trace_call::deallocate;
}

}

/// In which order a thread reaches the places of the group's functions. The stacks of the group are a tree, outermost
/// frame first: a node is a call, and its children are the places in the function that it reaches.
class scope_finder::call_order {
public:
    explicit call_order(scope_finder& finder) : finder_(finder), known_(finder.recorded_.stacks.size()) {
        nodes_.emplace_back();
        const std::vector<trace_event>& events = finder.recorded_.events;
        for (const std::uint64_t block : finder.group_.blocks) add(finder.lives_[block].born.stack);
        const std::uint32_t thread = finder.lives_[finder.group_.blocks.front()].born.thread;
        for (std::uint64_t i = 0; i < events.size(); ++i)
            if (events[i].thread == thread && has_place(events[i])) see(i, events[i]);
    }

    /// Whether the place `other` may be reached by another call of the function than the one with the frame of `stack`
    /// that has `shared` frames around it.
    [[nodiscard]] bool is_doubtful(std::uint32_t stack, std::size_t shared, std::uint64_t other) {
        std::size_t at = find(stack).node;
        if (nodes_[at].level <= shared) return true;
        while (nodes_[at].level > shared + 1) at = nodes_[at].parent;
        return is_crowded(nodes_[at].parent) || nodes_[at].doubtful.contains(other);
    }

private:
    static constexpr std::size_t max_children = 8; ///< with more the callers differ, and no scope can stand there

    /// When a place was reached last: 1 is the first event, 0 never.
    struct visit {
        std::uint64_t event = 0;
        std::uint32_t stack = 0;
    };
    struct node {
        std::size_t parent = 0, level = 0; ///< level: frames down to this one
        std::uint64_t address = 0;
        std::uint64_t last = 0;      ///< like visit::event
        std::uint64_t restarted = 0; ///< the last allocation here whose block was freed before the next one here
        std::uint64_t made = 0;      ///< the last allocation here
        std::vector<std::size_t> children{};
        std::unordered_map<std::uint64_t, visit> visits{}; ///< of places in the function that this call reaches
        std::unordered_set<std::uint64_t> doubtful{};      ///< other places in the same function
    };
    struct place {
        std::size_t node = 0;
        std::uint64_t leaves_at = 0; ///< the first frame that is not in the tree; 0: all are
        bool is_known = false;
    };

    [[nodiscard]] bool is_crowded(std::size_t at) const { return nodes_[at].children.size() > max_children; }

    [[nodiscard]] std::size_t child_of(std::size_t at, std::uint64_t address) const {
        for (const std::size_t each : nodes_[at].children)
            if (nodes_[each].address == address) return each;
        return 0;
    }

    void add(std::uint32_t stack) {
        if (!added_.insert(stack).second) return;
        const std::vector<std::uint64_t>& frames = finder_.recorded_.stacks[stack].frames;
        std::size_t at = 0;
        for (std::size_t i = frames.size(); i-- > 0;) {
            std::size_t next = child_of(at, frames[i]);
            if (next == 0) {
                next = nodes_.size();
                nodes_.push_back({at, nodes_[at].level + 1, frames[i]});
                nodes_[at].children.push_back(next);
            }
            at = next;
        }
    }

    [[nodiscard]] const place& find(std::uint32_t stack) {
        place& found = known_[stack];
        if (found.is_known) return found;
        found.is_known = true;
        const std::vector<std::uint64_t>& frames = finder_.recorded_.stacks[stack].frames;
        for (std::size_t i = frames.size(); i-- > 0;) {
            const std::size_t next = child_of(found.node, frames[i]);
            if (next == 0) {
                found.leaves_at = frames[i];
                break;
            }
            found.node = next;
        }
        return found;
    }

    void see(std::uint64_t index, const trace_event& event) {
        const place& here = find(event.stack);
        if (here.leaves_at != 0) reach(here.node, here.leaves_at, index + 1, event.stack);
        for (std::size_t at = here.node; at != 0; at = nodes_[at].parent) {
            if (nodes_[nodes_[at].parent].children.size() > 1)
                reach(nodes_[at].parent, nodes_[at].address, index + 1, event.stack);
            nodes_[at].last = index + 1;
        }
        if (here.leaves_at == 0 && event.call == trace_call::allocate) allocate(nodes_[here.node], index);
    }

    void allocate(node& at, std::uint64_t index) {
        const std::vector<trace_event>& events = finder_.recorded_.events;
        if (at.made != 0 && finder_.lives_[events[at.made - 1].block].died.event < index) at.restarted = at.made;
        at.made = index + 1;
    }

    void reach(std::size_t at, std::uint64_t address, std::uint64_t now, std::uint32_t stack) {
        if (is_crowded(at)) return;
        visit& before = nodes_[at].visits[address];
        for (const std::size_t each : nodes_[at].children) {
            node& child = nodes_[each];
            if (child.address == address) continue;
            const bool is_again = child.last <= before.event && !goes_on(before.stack, stack, nodes_[at].level);
            if (is_again || child.restarted > before.event) child.doubtful.insert(address);
        }
        before = {now, stack};
    }

    /// Whether the call that was made with `level` frames around it still runs: it is further ahead in what it calls.
    [[nodiscard]] bool goes_on(std::uint32_t before, std::uint32_t now, std::size_t level) {
        if (before == 0 || before == now) return false;
        const stack_relation& to = finder_.relations_.of(before, now);
        return !to.is_other_function && to.shared > level && to.other > to.own;
    }

    scope_finder& finder_;
    std::vector<node> nodes_;  // the first is what calls the outermost functions
    std::vector<place> known_; // by stack
    std::unordered_set<std::uint32_t> added_;
};

scope_finder::scope_finder(const trace& recorded, const block_group& group, std::span<const block_life> lives,
                           const code_functions& functions)
    : recorded_(recorded), group_(group), lives_(lives), relations_(recorded, functions) {}

scope_finder::~scope_finder() = default;

/// Whether the stack that is related to `stack` may be of another call of the function where they part.
bool scope_finder::may_be_another_call(std::uint32_t stack, const stack_relation& to) {
    if (to.is_other_function || to.other <= to.own) return true;
    if (order_ == nullptr) order_ = std::make_unique<call_order>(*this);
    return order_->is_doubtful(stack, to.shared, to.other);
}

/// Follows a thread from an allocation on.
class scope_finder::progress {
public:
    progress(scope_finder& finder, std::uint32_t stack)
        : finder_(finder), stack_(stack), frames_(finder.recorded_.stacks[stack].frames), outer_(frames_.size()) {}

    void follow(const stack_relation& to) {
        // A call that reaches another function than before is made again: the caller has gone on.
        const bool is_apart = to.shared < frames_.size();
        const std::size_t shared =
            is_apart && to.is_other_function ? std::max<std::size_t>(to.shared, 1) - 1 : to.shared;
        if (shared > outer_ || !is_apart) return enter_again();
        if (shared < outer_) {
            outer_ = shared;
            is_doubtful_ = finder_.may_be_another_call(stack_, to);
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

    scope_finder& finder_;
    std::uint32_t stack_;
    const std::vector<std::uint64_t>& frames_;
    std::size_t outer_;       // frames in common with everything seen
    std::uint64_t place_ = 0; // how far the innermost function in common has come
    bool is_doubtful_ = false;
};

found_scope scope_finder::scope_of(const group_burst& burst, std::size_t least) {
    if (!recorded_.has_free_stacks) return by_allocations(burst, least);
    const found_scope freed = by_frees(burst, least);
    if (freed.is_told || freed.inner == no_frame) return freed;
    // The function may still be told by what the thread allocates later, but none that the frees speak against.
    found_scope found = by_allocations(burst, std::max(least, freed.frame));
    if (found.frame != no_frame) found.inner = std::max(found.inner, freed.inner);
    return found;
}

found_scope scope_finder::by_frees(const group_burst& burst, std::size_t least) {
    const std::uint64_t events = recorded_.events.size();
    const found_scope none{no_frame, no_frame, events, false, true};
    const std::uint32_t stack = lives_[group_.blocks[burst.first]].born.stack;
    if (group_.stack == 0 || stack == 0) return none;
    const std::uint32_t thread = recorded_.events[burst.begin].thread;
    free_places places(recorded_.stacks[stack].frames);
    const std::uint64_t last = burst.end == never ? events - 1 : burst.end;
    for (std::uint64_t i = burst.begin; i <= last; ++i) {
        const trace_event& event = recorded_.events[i];
        if (event.thread != thread || event.call > trace_call::resize) continue;
        const bool is_free = event.call == trace_call::deallocate;
        const bool is_own = is_free && std::binary_search(group_.blocks.begin(), group_.blocks.end(), event.block);
        if (event.stack == 0) {
            if (is_own) places.see_free_without_stack();
            continue;
        }
        places.see(relations_.of(stack, event.stack), is_own);
        if (places.is_outside()) return none;
    }
    found_scope found{places.frame(), places.frame(), events, false, true};
    if (found.inner >= group_.depth) return none;
    if (burst.end == never) return found;
    if (!places.shows_one_call()) {
        if (places.is_doubtful()) ++found.frame;
        return found;
    }
    found.frame = std::max(found.inner, least);
    if (found.frame >= group_.depth) return none;
    found.is_told = true;
    found.end = found.frame == found.inner ? last + 1 : end_of_call(stack, found.frame, last + 1);
    return found;
}

/// The first event of the thread that is not in what this frame calls.
std::uint64_t scope_finder::end_of_call(std::uint32_t stack, std::size_t frame, std::uint64_t after) {
    const std::size_t level = recorded_.stacks[stack].frames.size() - 1 - frame;
    const std::uint32_t thread = recorded_.events[after - 1].thread;
    std::uint64_t at = after;
    for (; at < recorded_.events.size(); ++at) {
        const trace_event& event = recorded_.events[at];
        if (event.thread == thread && event.stack != 0 && relations_.of(stack, event.stack).shared <= level) break;
    }
    return at;
}

bool scope_finder::is_left(const group_burst& burst, std::size_t frame, std::uint64_t since) {
    const std::uint32_t stack = lives_[group_.blocks[burst.first]].born.stack;
    const std::size_t level = recorded_.stacks[stack].frames.size() - 1 - frame;
    const std::uint32_t thread = recorded_.events[burst.begin].thread;
    for (std::uint64_t i = since; i < burst.begin; ++i) {
        const trace_event& event = recorded_.events[i];
        if (event.thread == thread && event.stack != 0 && relations_.of(stack, event.stack).shared < level) return true;
    }
    return false;
}

found_scope scope_finder::by_allocations(const group_burst& burst, std::size_t least) {
    const std::uint64_t events = recorded_.events.size();
    found_scope found{no_frame, no_frame, events, false};
    const std::uint32_t stack = lives_[group_.blocks[burst.first]].born.stack;
    if (group_.stack == 0 || stack == 0) return found;
    const std::uint32_t thread = recorded_.events[burst.begin].thread;
    progress at(*this, stack);
    found.inner = 0;
    for (std::uint64_t i = burst.begin; i < events; ++i) {
        const trace_event& event = recorded_.events[i];
        const bool is_over = burst.end != never && i >= burst.end;
        if (is_over && i - burst.end > max_look_ahead) return found;
        const bool is_seen = event.thread == thread && has_place(event);
        if (is_seen) {
            at.follow(relations_.of(stack, event.stack));
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
