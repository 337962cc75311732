// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The file that a watched process writes, in its memory layout: the hook maps it, `tenure watch` reads it afterwards.
///
///     process_head | area of thread 0 | area of thread 1 | …          each area: one thread_area
///
/// Counts are written where they happen, and the kernel keeps the pages of a mapped file when the process dies, so a
/// crash loses nothing. Untouched parts of the file are holes. Times are ticks of the processor's counter; process_head
/// says how long a tick is. Only the version of the command that wrote a file can read it.

#include <cstdint>

namespace tenure::lab::hook {

constexpr std::uint64_t file_magic = 0x3168'6374'6177'6e74; // "tnwatch1"
constexpr std::uint32_t file_version = 3;

/// What a region was made from.
enum class region_kind : std::uint32_t {
    none,
    process,  ///< the whole program
    openmp,   ///< a parallel construct of OpenMP, from gcc's library or LLVM's
    tbb,      ///< an algorithm of TBB, also under std::execution
    thread,   ///< the routine of a thread that the program started
    function, ///< a function named by the user
    mark,     ///< tn_region_begin() to tn_region_end()
    no_alloc, ///< a no-allocation scope
    no_wait,  ///< a no-wait scope
};

enum class thread_kind : std::uint32_t { main, program, openmp_worker, tbb_worker };

/// How a process ended. The process itself records an exit; an exec is seen from the next program's recording; a
/// process that was killed or crashed records nothing.
enum class process_end : std::uint32_t { none_seen, exit, quick_exit, exec };

constexpr std::uint32_t max_modules = 1024;
constexpr std::uint32_t max_regions = 512;
constexpr std::uint32_t max_notices = 64;
constexpr std::uint32_t max_moments = 1024;
constexpr std::uint32_t max_nodes = 256;
constexpr std::uint32_t max_sites = 8192;            // a power of two: a hash table
constexpr std::uint32_t max_stack_words = 1U << 20U; // 8 MiB of addresses
constexpr std::uint32_t max_intervals = 16'384;
constexpr std::uint32_t max_waits = 32'768;
constexpr std::uint32_t max_frames = 64;

/// A file that is mapped into the process. Frames are stored relative to their module, so that an unloaded library and
/// another at the same addresses stay distinct.
struct module_record {
    std::uint64_t base;
    std::uint64_t first, last; ///< its address range
    char path[232];
};

struct region_record {
    region_kind kind;
    std::uint32_t taken; ///< 0: empty, 1: being written, 2: complete
    std::uint32_t name_bytes;
    std::uint32_t unused;
    std::uint64_t code; ///< a frame, as in a stack: what the threads run, or the caller; 0: none
    std::uint64_t key;  ///< its key in the process
    char name[96];      ///< of a mark or a function; otherwise empty
};

/// A tn_mark() event.
struct moment_record {
    std::uint64_t ticks;
    std::uint32_t thread;
    std::uint32_t region; ///< index of the region_record with its name
};

struct process_head {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t process;
    std::uint32_t parent;
    process_end end;
    std::uint64_t first_ticks, first_ns; ///< at the start
    std::uint64_t last_ticks, last_ns;   ///< at the end; 0 when no end was seen
    std::uint64_t file_bytes;            ///< allocated so far
    std::uint32_t threads;               ///< number of areas
    std::uint32_t modules;
    std::uint32_t notices;
    std::uint32_t own_malloc; ///< 1: the program has its own malloc, which is not recorded
    std::uint64_t fault_ns;   ///< cost of the first touch of an OS page in this process; 0: not measured
    std::uint64_t lost_threads;
    std::uint32_t lost_regions, is_child;
    std::uint64_t lost_entries; ///< calls of watched functions that were not recorded
    std::uint32_t refusal;      ///< errno of the last thread that got no area
    // Written by the command when it saw the process end; 0 otherwise:
    std::uint32_t end_signal;
    std::uint64_t end_ticks;
    std::uint32_t has_end_code, end_code;
    char program[256];
    char command[512]; ///< its arguments, separated by spaces
    module_record module[max_modules];
    region_record region[max_regions];
    char notice[max_notices][240];
    std::uint64_t moments; ///< includes those that found no room
    moment_record moment[max_moments];
};

/// The kernel's figures for a thread.
struct kernel_figures {
    std::uint64_t processor_ns, queue_ns, has_queue; ///< has_queue is 0 when the time in the run queue is unknown
    std::uint64_t small_faults, large_faults, voluntary, involuntary, user_us, system_us;
};

/// A path in the tree of nested regions. Node 0 is outside of all regions.
struct node_record {
    std::uint32_t parent;
    std::uint32_t region;
    std::uint64_t entries;
    std::uint64_t inside_ticks; ///< of finished stays
    std::uint64_t open_since;   ///< begin of the stay that has not ended; 0: none
    std::uint64_t longest_ticks;
    // Written by the thread that opened the region for its threads:
    std::uint64_t instances;
    std::uint64_t span_ticks;    ///< from the region's begin to its end
    std::uint64_t total_ticks;   ///< the same, times the number of its threads
    std::uint64_t open_instance; ///< begin of the instance that has not ended; 0: none
    std::uint64_t max_threads;
    // Idle time inside the region, as in a scheduler's loop that looks for work:
    std::uint64_t idle_ticks;
    std::uint64_t late_ticks; ///< from the region's begin to this thread's entry
    // The kernel's figures for the stays that were sampled:
    std::uint64_t asked_ticks;
    kernel_figures asked;
    std::uint64_t quick_locks; ///< locks that nobody else held
    std::uint64_t is_no_wait;  ///< 1: a no-wait scope is on the path, so free locks are recorded with their place
    // Used by the process only: when the sampling period began, the kernel's figures then, and the time spent inside
    // since.
    std::uint64_t last_interval; ///< number of its last entry, or 0
    std::uint64_t period_begin, period_inside, last_asked;
    kernel_figures period;
};

/// One call site: calls of one function from one stack in one node.
struct site_record {
    std::uint32_t stack; ///< index of its words; 0: unknown
    std::uint16_t node;
    std::uint8_t call;     ///< index in calls.hpp
    std::uint8_t is_taken; ///< 1: not empty
    std::uint64_t count;
    std::uint64_t bytes;
    std::uint64_t ticks, longest_ticks;
    std::uint64_t waits, wait_ticks, longest_wait_ticks;
    std::uint64_t slow, slow_ticks;               ///< much longer than usual, but the thread did not sleep
    std::uint64_t interrupted, interrupted_ticks; ///< of the slow calls, those in which the thread was preempted
    std::uint64_t slow_faults;                    ///< OS pages that slow calls touched first
    std::uint64_t object;                         ///< what the last wait was for: a frame, as in a stack, or an address
    std::uint64_t null_frees;                     ///< free(nullptr)
};

struct interval_record { ///< a stay in a region, or several with short pauses between them
    std::uint64_t first, last;
    std::uint32_t node, unused;
};

struct wait_record {
    std::uint64_t first, ticks;
    std::uint32_t site;
    std::uint32_t holder; ///< the thread that held the lock; 0: not known
};

/// A stack is { its depth; its frames, innermost first; data that only the process itself reads }. A frame is a return
/// address: the module's number + 1 in the high 16 bits and the offset in the low 48 bits, or the plain address when it
/// is in no module.
constexpr unsigned module_shift = 48;

struct thread_area {
    std::uint32_t thread;
    thread_kind kind;
    std::uint64_t first, last; ///< last is 0 while the thread runs
    std::uint64_t created;     ///< when its creation was requested; 0: not known
    char name[16];
    std::uint64_t routine; ///< a frame: the thread's start routine
    std::uint32_t nodes, sites, stack_words, intervals, waits;
    std::uint32_t reused;               ///< how many later threads with the same routine reused it
    std::uint64_t wait_threshold_ticks; ///< shorter waits are no longer listed
    std::uint64_t thinned_waits;
    std::uint64_t lost_stacks, lost_sites, lost_nodes; ///< calls counted without their stack, site or region
    std::uint64_t misses;                              ///< stacks that were unwound with unwind tables
    std::uint64_t latest;                              ///< time of the last write
    // A wait that has not ended: the thread may never return from it.
    std::uint64_t waiting_since, waiting_for, waiting_caller;
    std::uint32_t waiting_call, waiting_node;
    node_record node[max_nodes];
    site_record site[max_sites];
    std::uint64_t stack[max_stack_words];
    interval_record interval[max_intervals];
    wait_record wait[max_waits];
};

static_assert(sizeof(process_head) % 8 == 0 && sizeof(thread_area) % 8 == 0);

}
