// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// In which function the blocks of a burst are freed, by the stacks of their frees.
///
/// Two stacks that begin with the same return addresses show the same function called from the same place. What this
/// says of one call of a function, with a block that is allocated in it or in what it calls:
///
/// - An event of the thread whose stack leaves the path to the function is a proof that the call has ended. So a scope
///   stands in the function where all stacks of the burst part, or further out: never further in.
/// - A path that stays the same is no proof that the call goes on. Its caller can call it again from the same place,
///   in a loop, and if the thread neither allocates nor frees in between, the stacks are the same. A recursive call is
///   no such case: its stack is longer.
///
/// So a function is told only if the burst has the shape of one call: it allocates, goes on ahead in its code, and
/// frees there or in what it calls from there. It is not told if the thread is seen
///
/// - in the function, in front of the place that allocates: that begins another turn of a loop, or another call;
/// - at that place, after it has freed a block of the burst: blocks that are freed in the next call have this shape;
/// - freeing a block of the burst in what is called from that place, after it has been further ahead: that is a later
///   turn of a loop;
/// - at the last free, at the same place as at the allocation, or in another function that the same call has reached.
///
/// What is left is a function that keeps blocks and frees them in a later call, with calls in between that neither
/// allocate nor free, if its caller does neither between the calls: sqlite3_step() while a loop counts rows. No stack
/// tells this from one call. scope_proof::separate_calls says what makes it unlikely.
///
/// A call can reach several functions: through a pointer, or in the next turn of a loop. If a stack shows another
/// function than the one that allocates, or none, the allocating call has ended, and only its caller still runs for
/// sure. A stack with none ends at the call: what was called has jumped to free(), as compilers end a function, or is
/// free() itself. The jump may be that of the allocating function or of another, so it proves nothing of either.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "observe/replay/advice/stack_relations.hpp"

namespace tenure::lab {

/// Follows a thread through a burst. Frames and levels count from the outermost: level n is the n-th frame from there.
class free_places {
public:
    /// `frames`: of the first allocation's stack. They must outlive the object.
    explicit free_places(const std::vector<std::uint64_t>& frames) : frames_(frames), level_(frames.size()) {}

    /// An event of the thread. `is_own`: it frees a block of the group.
    void see(const stack_relation& to, bool is_own) {
        is_ahead_ = false;
        if (to.shared == frames_.size()) return see_at_allocation(is_own); // the allocating call itself
        // The allocating call has ended: its caller has reached another function from the same place.
        const bool is_other = to.is_other_function && to.shared != 0;
        go_to(is_other ? to.shared - 1 : to.shared);
        if (is_other || to.shared > level_) return see_at_allocation(is_own);
        is_doubtful_ = is_doubtful_ || to.other < own();
        is_ahead_ = to.other > own();
        has_moved_ = true;
        has_freed_ = has_freed_ || is_own;
    }
    /// A block of the group was freed, and the trace has no stack of it.
    void see_free_without_stack() { has_free_without_stack_ = true; }

    /// Nothing is in common any more.
    [[nodiscard]] bool is_outside() const { return level_ == 0; }
    /// The function in which all stacks part, as a frame from the innermost: further in no scope can stand.
    [[nodiscard]] std::size_t frame() const { return level_ < frames_.size() ? frames_.size() - 1 - level_ : 0; }
    /// Whether the burst has the shape of one call of this function, if the last event has freed its last block.
    [[nodiscard]] bool shows_one_call() const { return is_ahead_ && !is_doubtful_ && !has_free_without_stack_; }
    /// Whether what was seen of this function may be of several calls.
    [[nodiscard]] bool is_doubtful() const { return is_doubtful_; }

private:
    [[nodiscard]] std::uint64_t own() const { return frames_[frames_.size() - 1 - level_]; }

    void go_to(std::size_t level) {
        if (level >= level_) return;
        level_ = level;
        is_doubtful_ = has_moved_ = has_freed_ = false; // of functions further in, which have ended
    }
    /// The thread is at the place that allocates, or in what is called there.
    void see_at_allocation(bool is_own) { is_doubtful_ = is_doubtful_ || (is_own ? has_moved_ : has_freed_); }

    const std::vector<std::uint64_t>& frames_;
    std::size_t level_;        // where all stacks so far part; frames_.size(): they are the same
    bool is_doubtful_ = false; // what was seen may be of another turn or call
    bool has_moved_ = false;   // away from the allocation, in the function at level_
    bool has_freed_ = false;   // a block of the group, there
    bool is_ahead_ = false;    // the last event is behind the allocation
    bool has_free_without_stack_ = false;
};

}
