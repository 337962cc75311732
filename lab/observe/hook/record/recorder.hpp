// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Recording in the threads of the watched process, without locks or allocations: the memory belongs to the record
/// file.
///
/// Outside of all regions an intercepted call costs one load and one test. Inside a region it costs two reads of the
/// time stamp counter, the stack look-up, and an update of an entry in the thread's own table.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

#include "observe/hook/interpose/calls.hpp"
#include "observe/hook/record/recording_format.hpp"
#include "observe/hook/record/settings.hpp"

namespace tenure::lab::hook {

/// A region that the thread is in.
struct open_region {
    std::uint32_t node;   ///< the node around it
    std::uint32_t region; ///< index of its region_record
    bool is_counted;      ///< false: the thread is already in the same region, further out
    std::uint64_t begin;
    region_kind kind;
};
constexpr std::uint32_t max_open = 16;

struct stack_cache;

struct thread_state {
    std::uint32_t active;  ///< not 0: calls are recorded
    std::uint32_t allowed; ///< number of open permissions inside no-allocation scopes
    thread_area* area;
    stack_cache* stacks;
    std::uint32_t node;
    std::uint32_t generation; ///< generation of the cache; entries of earlier threads do not count
    std::uint32_t depth;      ///< number of open regions; may exceed max_open
    bool has_ended;           ///< its area is closed; later calls are not recorded
    bool is_refused;          ///< there was no memory for an area
    thread_kind kind;
    std::uint64_t routine;
    std::uint64_t created;               ///< when the thread's creation was requested
    std::uintptr_t stack_low, stack_top; ///< the thread's own stack, up to above its first frame; 0: not known
    std::uint64_t waited;                ///< ticks of all waits so far, subtracted from calls that contain them
    std::uint64_t voluntary;             ///< the kernel's count of voluntary switches when last asked
    std::uint64_t involuntary;           ///< the same for involuntary switches
    std::uint64_t faults;                ///< the same for page faults
    std::uint64_t own_faults;            ///< faults caused by the hook, subtracted from the kernel's figure
    // The last remember_moment(): the time, the processor time and the waits until then. Slow calls are compared with
    // it.
    std::uint64_t known_ticks, known_processor_ns, known_waited;
    open_region open[max_open];
};

extern constinit thread_local thread_state this_thread;

[[nodiscard]] inline std::uint64_t ticks() noexcept { return __builtin_ia32_rdtsc(); }
[[nodiscard]] inline bool is_active() noexcept { return __builtin_expect(this_thread.active != 0, 0) != 0; }

/// The caller of an interposed function, taken in that function itself.
struct place {
    std::uintptr_t caller; ///< return address
    std::uintptr_t frame;  ///< frame of the interposed function; the caller's frame begins 16 bytes above
};
[[nodiscard]] [[gnu::always_inline]] inline place here() noexcept {
    return {reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),
            reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
}

/// Whether an address is on the thread's own stack. Everything from there to the stack's top may be read.
[[nodiscard]] inline bool is_on_own_stack(std::uintptr_t place_on_stack) noexcept {
    return place_on_stack >= this_thread.stack_low && place_on_stack < this_thread.stack_top;
}

/// Returns   the thread's area, created on first use; nullptr when the thread cannot be recorded.
[[nodiscard]] thread_area* area_of_thread() noexcept;

/// Records a call. Never fails: without memory it counts what it can.
void note_call(call which, place from, std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) noexcept;
/// Records a call that was a wait as a whole. `object`: the address waited for; `holder`: the thread that held the
/// lock, or 0.
void note_wait(call which, place from, std::uint64_t begin, std::uint64_t end, const void* object,
               std::uint32_t holder) noexcept;
/// Records a call that waits only when no data is ready. It counts as a wait if the thread slept.
void note_input(call which, place from, std::uint64_t begin, std::uint64_t end) noexcept;
/// Announces a wait that may be long. note_wait() ends it.
inline void note_waiting(call which, const place& from, std::uint64_t begin, const void* object) noexcept {
    thread_area* const area = this_thread.area;
    if (area == nullptr) return;
    area->waiting_call = static_cast<std::uint32_t>(which);
    area->waiting_node = this_thread.node;
    area->waiting_caller = from.caller;
    area->waiting_for = reinterpret_cast<std::uintptr_t>(object);
    __atomic_store_n(&area->waiting_since, begin, __ATOMIC_RELEASE);
}
/// Ends an announced wait that was not one.
inline void note_no_wait() noexcept {
    if (this_thread.area != nullptr) this_thread.area->waiting_since = 0;
}
/// Records the wait in which a thread was cancelled.
void note_cancelled() noexcept;
/// Counts a call of a watched function that could not be recorded.
void note_unseen_entry() noexcept;
void note_null_free(call which, place from, std::uint64_t begin, std::uint64_t end) noexcept;

/// Counts a lock that nobody else held, in a no-wait scope: with its place, unless it is permitted.
void note_promised_lock(call which, const place& from) noexcept;

/// Counts a lock that nobody else held.
[[gnu::always_inline]] inline void note_quick_lock(call which, const place& from) noexcept {
    if (this_thread.area == nullptr) return;
    node_record& node = this_thread.area->node[this_thread.node];
    if (node.is_no_wait != 0) [[unlikely]]
        return note_promised_lock(which, from);
    ++node.quick_locks;
}

/// Asks the kernel for all figures. ask_kernel_quickly() leaves out processor and queue time, which cost another two
/// microseconds.
void ask_kernel(kernel_figures& answer) noexcept;
void ask_kernel_quickly(kernel_figures& answer) noexcept;
[[nodiscard]] std::uint64_t processor_ns() noexcept;

/// Starts measuring the thread's time away.
void remember_moment() noexcept;

/// Stores the figures that slow calls are compared with.
inline void remember_figures(const kernel_figures& now) noexcept {
    this_thread.voluntary = now.voluntary;
    this_thread.involuntary = now.involuntary;
    this_thread.faults = now.small_faults + now.large_faults;
}

/// Returns   the address in its stored form: relative to its module.
[[nodiscard]] std::uint64_t keep_address(std::uintptr_t address) noexcept;
/// Whether the address is in a loaded module. If not, it was generated at run time.
[[nodiscard]] bool is_in_module(std::uintptr_t address) noexcept;
/// Whether the address is in the code of a loaded module.
[[nodiscard]] bool is_code(std::uintptr_t address) noexcept;
/// Returns   the load address of the module that contains the address; 0 when it is in none.
[[nodiscard]] std::uintptr_t module_base(std::uintptr_t address) noexcept;
/// Whether the name of the file that contains the address begins with `name`, such as "libgomp".
[[nodiscard]] bool is_in_library(std::uintptr_t address, const char* name) noexcept;

/// The head of the process's file; opens the file if necessary. Returns   nullptr when there is none.
[[nodiscard]] process_head* head_of_process() noexcept;
void open_file() noexcept;
void note_end(process_end how) noexcept;
/// Adds a sentence to the report.
void note_notice(const char* text, const char* about) noexcept;

/// Maps the areas of all threads, including ended ones, and visits them one by one.
void visit_areas(void (*visit)(void* context, const thread_area& area) noexcept, void* context) noexcept;
template<class Visit>
void for_each_area(Visit&& visit) noexcept {
    visit_areas([](void* context, const thread_area& area) noexcept { (*static_cast<Visit*>(context))(area); }, &visit);
}

/// In the child of a fork: drops what belongs to the parent. The child's first record creates a file of its own.
void forget_after_fork() noexcept;
/// Called when the calling thread is about to end.
void close_area() noexcept;

}
