// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a thread of the watched process notes, where it happens: no lock, no allocation, memory that is the file's.
///
/// A thread that is in no region pays one load and one test per intercepted call. Within one, a call costs two reads of
/// the counter, the look at the stack, and a line in a table that belongs to the thread.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

#include "hook/calls.hpp"
#include "hook/record_file.hpp"
#include "hook/settings.hpp"

namespace tenure::lab::hook {

/// A region that this thread is in.
struct open_region {
    std::uint32_t node;   ///< around it
    std::uint32_t region; ///< its number
    bool is_counted;      ///< false: it is in the same region already, further out
    std::uint64_t begin;
    region_kind kind;
};
constexpr std::uint32_t max_open = 16;

struct stack_cache;

struct thread_state {
    std::uint32_t active;  ///< not 0: calls are noted
    std::uint32_t allowed; ///< of no-allocation scopes: permissions that are open
    thread_area* area;
    stack_cache* stacks;
    std::uint32_t node;
    std::uint32_t generation; ///< of the cache: what threads before this one left in it does not count
    std::uint32_t depth;      ///< of `open`, also past its end
    bool has_ended;           ///< its area is closed: what still comes is not noted
    bool is_refused;          ///< there was no memory for an area
    thread_kind kind;
    std::uint64_t routine;
    std::uint64_t created;               ///< when the thread was asked for
    std::uintptr_t stack_low, stack_top; ///< of the thread's own stack, up to above its first frame; 0: not known
    std::uint64_t waited;                ///< ticks of all waits so far: a call around others counts only its own
    std::uint64_t voluntary;             ///< the kernel's count of times it slept, when last asked
    std::uint64_t involuntary;           ///< of times it was taken off its processor
    std::uint64_t faults;                ///< and of pages that it touched first
    std::uint64_t own_faults;            ///< pages of ours, which are taken off what the kernel says
    // A moment, the processor's time until then, and the waits: for calls that take long.
    std::uint64_t known_ticks, known_processor_ns, known_waited;
    open_region open[max_open];
};

extern constinit thread_local thread_state this_thread;

[[nodiscard]] inline std::uint64_t ticks() noexcept { return __builtin_ia32_rdtsc(); }
[[nodiscard]] inline bool is_active() noexcept { return __builtin_expect(this_thread.active != 0, 0) != 0; }

/// Who called the hook: taken in the exported function itself.
struct place {
    std::uintptr_t caller; ///< return address
    std::uintptr_t frame;  ///< the hook's frame: the caller's begins 16 bytes above
};
[[nodiscard]] [[gnu::always_inline]] inline place here() noexcept {
    return {reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),
            reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
}

/// Whether a place is on the thread's own stack: from there to its top everything may be read.
[[nodiscard]] inline bool is_on_own_stack(std::uintptr_t place_on_stack) noexcept {
    return place_on_stack >= this_thread.stack_low && place_on_stack < this_thread.stack_top;
}

/// The thread's area, made at the first question; null when the thread cannot be noted.
[[nodiscard]] thread_area* area_of_thread() noexcept;

/// A call that took so long. Never fails: without memory it counts what it can.
void note_call(call which, place from, std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) noexcept;
/// The same of a call that was a wait as a whole. `object`: an address; `holder`: the thread that had the lock, or 0.
void note_wait(call which, place from, std::uint64_t begin, std::uint64_t end, const void* object,
               std::uint32_t holder) noexcept;
/// The same of a call that waits if there is nothing to be had: it did when the thread slept.
void note_input(call which, place from, std::uint64_t begin, std::uint64_t end) noexcept;
/// Said before a wait that may be long: note_wait() takes it back.
inline void note_waiting(call which, const place& from, std::uint64_t begin, const void* object) noexcept {
    thread_area* const area = this_thread.area;
    if (area == nullptr) return;
    area->waiting_call = static_cast<std::uint32_t>(which);
    area->waiting_node = this_thread.node;
    area->waiting_caller = from.caller;
    area->waiting_for = reinterpret_cast<std::uintptr_t>(object);
    __atomic_store_n(&area->waiting_since, begin, __ATOMIC_RELEASE);
}
/// The wait that was begun was none.
inline void note_no_wait() noexcept {
    if (this_thread.area != nullptr) this_thread.area->waiting_since = 0;
}
/// At the end of a thread that was ended within a wait.
void note_cancelled() noexcept;
/// A call of a watched function that could not be watched.
void note_unseen_entry() noexcept;
void note_null_free(call which, place from, std::uint64_t begin, std::uint64_t end) noexcept;

/// A lock that nobody else held.
inline void note_quick_lock() noexcept {
    if (this_thread.area != nullptr) ++this_thread.area->node[this_thread.node].quick_locks;
}

/// All of it; and without the times on the processor and in its queue, which cost two microseconds more.
void ask_kernel(kernel_figures& answer) noexcept;
void ask_kernel_quickly(kernel_figures& answer) noexcept;
[[nodiscard]] std::uint64_t processor_ns() noexcept;

/// From here on the thread's time away is counted.
void remember_moment() noexcept;

/// What a call that takes long is compared with.
inline void remember_figures(const kernel_figures& now) noexcept {
    this_thread.voluntary = now.voluntary;
    this_thread.involuntary = now.involuntary;
    this_thread.faults = now.small_faults + now.large_faults;
}

/// An address as it is kept: relative to the module that it is in.
[[nodiscard]] std::uint64_t keep_address(std::uintptr_t address) noexcept;
/// Whether the address is in a loaded module: what is in none was made at run time.
[[nodiscard]] bool is_in_module(std::uintptr_t address) noexcept;
/// Whether it is in the code of one.
[[nodiscard]] bool is_code(std::uintptr_t address) noexcept;
/// Where the module that the address is in was loaded; 0: it is in none.
[[nodiscard]] std::uintptr_t module_base(std::uintptr_t address) noexcept;
/// Whether the file that the address is in has such a name, as "libgomp".
[[nodiscard]] bool is_in_library(std::uintptr_t address, const char* name) noexcept;

/// The process's file. Null until there is one.
[[nodiscard]] process_head* head_of_process() noexcept;
void open_file() noexcept;
void note_end(process_end how) noexcept;
/// A sentence for the reader of the report.
void note_notice(const char* text, const char* about) noexcept;

/// Maps the areas of all threads, also of those that have ended, and hands them over one by one.
void visit_areas(void (*visit)(void* context, const thread_area& area) noexcept, void* context) noexcept;
template<class Visit>
void for_each_area(Visit&& visit) noexcept {
    visit_areas([](void* context, const thread_area& area) noexcept { (*static_cast<Visit*>(context))(area); }, &visit);
}

/// In the child of a fork: what the thread had belongs to the parent; a file of its own comes with its first note.
void forget_after_fork() noexcept;
/// The calling thread is about to end.
void close_area() noexcept;

}
