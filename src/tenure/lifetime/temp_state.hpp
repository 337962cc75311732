// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// temp_state: a Temp of its own for a fiber, a coroutine or a job that may continue on another thread.
///
/// Temp belongs to a thread. A job that waits inside a temp_scope and continues on another thread would end its scope
/// in that thread's Temp, and jobs that take turns on one thread would free each other's blocks. With a temp_state per
/// job the scheduler switches Temp when it switches stacks: what the job has allocated, and its open scopes, stay with
/// the job.
///
/// Use it for     schedulers of fibers, and coroutines that are suspended inside a temp_scope or scratch_scope.
/// Not for        jobs that run to their end on one thread: a temp_scope per job, or reset_temp(), is enough.
/// Memory from    as Temp: a range of addresses for each of the two stacks (scratch.hpp), reserved at its first block.
/// Cost           a switch: four words saved and four loaded, about 2.5 ns. Allocation as from the thread's own Temp.
/// Overhead       sizeof(temp_state), and one mapping per stack in use.
/// Threads        one thread at a time, any of them in turn, with the synchronisation that moves the job itself.
/// Fork           usable in the child, unless another thread was using it at the time of the fork.
/// When full      as Temp.
/// Example        examples/fibers.cpp
///
/// A scope ends, and a container over Temp grows and ends, in the state in which it began. Checked builds report what
/// does so while another one is current.
///
/// Not moved by a switch: the thread's tag (tag.hpp), its no_alloc_scopes and its heap caches. End tag_scopes before
/// the job waits. Compilers may keep the address of thread-local variables in a register across a call that switches
/// stacks; so suspend a fiber in a function that is not inlined. examples/coroutines.cpp does the same without fibers.

#include <cstddef>

#include <tenure/base/config.hpp>
#include <tenure/lifetime/detail/thread_lifetimes.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {
struct temp_stacks;
}

class TENURE_API temp_state {
public:
    /// Reserves nothing until the first allocation. `budget_bytes` of zero is option temp_budget_bytes.
    [[nodiscard]] explicit temp_state(std::size_t budget_bytes = 0) noexcept;
    /// Frees everything that was allocated. Requires  no thread uses it.
    ~temp_state();
    temp_state(const temp_state&) = delete;
    temp_state& operator=(const temp_state&) = delete;

    /// Makes `next` the calling thread's Temp, and saves the one that it used so far. nullptr is the thread's own.
    /// Requires  no other thread uses `next`; checked builds verify it.
    /// Returns   the state that was in use, nullptr for the thread's own.
    /// Fails     when the thread has no memory for its records: then nothing changes. is_current() tells.
    static temp_state* switch_to(temp_state* next) noexcept;

    /// The calling thread's; nullptr: the thread's own.
    [[nodiscard]] static temp_state* current() noexcept;
    [[nodiscard]] TENURE_LOCAL bool is_current() const noexcept {
        return static_cast<const void*>(detail::this_thread().stacks) == space_;
    }

private:
    static constexpr std::size_t space_bytes = checks::caller ? 1200 : 576;

    TENURE_COLD static temp_state* switch_slow(temp_state* next) noexcept;
    [[nodiscard]] detail::temp_stacks& stacks() noexcept;
    [[nodiscard]] static temp_state* state_of(detail::temp_stacks& stacks) noexcept;

    // No more than the default alignment: the frame of a coroutine has no other.
    alignas(std::max_align_t) unsigned char space_[space_bytes];
};

/// Uses a temp_state until the end of the scope, then the one before. A scheduler opens it around the call that runs or
/// resumes a job, on its own stack.
class [[nodiscard]] temp_state_scope {
public:
    [[nodiscard]] explicit temp_state_scope(temp_state& state) noexcept
        : before_(temp_state::switch_to(&state)), is_switched_(state.is_current()) {
        if (checks::caller && !is_switched_) report_failure();
    }
    ~temp_state_scope() { temp_state::switch_to(before_); }
    temp_state_scope(const temp_state_scope&) = delete;
    temp_state_scope& operator=(const temp_state_scope&) = delete;

    /// Whether the state is in use. If not, the thread had no memory for its records, or, in checked builds, another
    /// thread uses the state: what is allocated comes from the Temp that was in use before. Checked builds report it.
    [[nodiscard]] bool is_switched() const noexcept { return is_switched_; }

private:
    TENURE_API TENURE_COLD static void report_failure() noexcept;

    temp_state* before_;
    bool is_switched_;
};

}
