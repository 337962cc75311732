// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The file that a watched process writes, as it lies in memory: the hook maps it, the watch reads it afterwards.
///
///     process_head | area of thread 0 | area of thread 1 | …          each area: thread_area, whose parts follow one
///                                                                     another as its members
///
/// Everything is counted where it happens, and the kernel keeps the pages of a mapped file whatever becomes of the
/// process: a crash loses nothing. What nobody touches is a hole. Times are ticks of the processor's counter;
/// process_head says how long a tick is. A file belongs to the version of the command that wrote it.

#include <cstdint>

namespace tenure::lab::hook {

constexpr std::uint64_t file_magic = 0x3168'6374'6177'6e74; // "tnwatch1"
constexpr std::uint32_t file_version = 2;

/// What a region is found by.
enum class region_kind : std::uint32_t {
    none,
    process,  ///< the whole program
    openmp,   ///< a parallel construct of OpenMP, by gcc's library or by LLVM's
    tbb,      ///< an algorithm of TBB, also under std::execution
    thread,   ///< what a thread of the program's runs
    function, ///< a function that was named
    mark,     ///< tn_region_begin to tn_region_end
    no_alloc, ///< a no-allocation scope
};

enum class thread_kind : std::uint32_t { main, program, openmp_worker, tbb_worker };

/// What is known of a process's end. It says itself that it exits; that it became another program is seen from that
/// one's recording; one that was killed or crashed says nothing.
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

/// A file that is mapped into the process. Frames are kept relative to one, so that a library that was unloaded, and
/// another in its place, are told apart.
struct module_record {
    std::uint64_t base;
    std::uint64_t first, last; ///< the addresses that it has
    char path[232];
};

struct region_record {
    region_kind kind;
    std::uint32_t taken; ///< 0 empty, 1 being written, 2 whole
    std::uint32_t name_bytes;
    std::uint32_t unused;
    std::uint64_t code; ///< a frame, as in a stack: what the threads run, or who called for it; 0: none
    std::uint64_t key;  ///< what it was found by in the process
    char name[96];      ///< of a mark or of a function; otherwise empty
};

/// tn_mark(): something happened.
struct moment_record {
    std::uint64_t ticks;
    std::uint32_t thread;
    std::uint32_t region; ///< whose name it has; region_record's number
};

struct process_head {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t process;
    std::uint32_t parent;
    process_end end;
    std::uint64_t first_ticks, first_ns; ///< at the start
    std::uint64_t last_ticks, last_ns;   ///< at the end, or 0 when none was seen
    std::uint64_t file_bytes;            ///< what was given to areas so far
    std::uint32_t threads;               ///< areas
    std::uint32_t modules;
    std::uint32_t notices;
    std::uint32_t own_malloc; ///< 1: the program's malloc is its own, and is not seen
    std::uint64_t fault_ns;   ///< what touching one fresh page cost this process; 0: not asked
    std::uint64_t lost_threads;
    std::uint32_t lost_regions, is_child;
    std::uint64_t lost_entries; ///< calls of watched functions that were not watched
    std::uint32_t refusal;      ///< errno of the last thread that got no record
    // By the command, where it saw the process end; 0 otherwise:
    std::uint32_t end_signal;
    std::uint64_t end_ticks;
    std::uint32_t has_end_code, end_code;
    char program[256];
    char command[512]; ///< its arguments, separated by spaces
    module_record module[max_modules];
    region_record region[max_regions];
    char notice[max_notices][240];
    std::uint64_t moments; ///< also those that found no room
    moment_record moment[max_moments];
};

/// What the kernel says about a thread.
struct kernel_figures {
    std::uint64_t processor_ns, queue_ns, has_queue; ///< 0: nobody could be asked about the queue
    std::uint64_t small_faults, large_faults, voluntary, involuntary, user_us, system_us;
};

/// Inside which regions: a path in a tree. Node 0 is outside of all.
struct node_record {
    std::uint32_t parent;
    std::uint32_t region;
    std::uint64_t entries;
    std::uint64_t inside_ticks; ///< of finished stays
    std::uint64_t open_since;   ///< of the stay that has not ended; 0: none
    std::uint64_t longest_ticks;
    // By who opened the region for its threads:
    std::uint64_t instances;
    std::uint64_t span_ticks;    ///< from the region's begin to its end
    std::uint64_t total_ticks;   ///< the same, times its threads
    std::uint64_t open_instance; ///< the begin of one that has not ended; 0: none
    std::uint64_t max_threads;
    // Idle although inside, as in the loop of a scheduler that looks for work:
    std::uint64_t idle_ticks;
    std::uint64_t late_ticks; ///< from the region's begin to this thread's
    // What the kernel said, of the stays that it was asked about:
    std::uint64_t asked_ticks;
    kernel_figures asked;
    std::uint64_t quick_locks; ///< that nobody else held
    // The process's own: since when, and what the kernel said then; how much of the time since was inside.
    std::uint64_t last_interval; ///< number of its last line, or 0
    std::uint64_t period_begin, period_inside, last_asked;
    kernel_figures period;
};

/// One call in one place: the calls that came from one stack in one node.
struct site_record {
    std::uint32_t stack; ///< index of its words; 0: unknown
    std::uint16_t node;
    std::uint8_t call;     ///< index in calls.hpp
    std::uint8_t is_taken; ///< 1: not empty
    std::uint64_t count;
    std::uint64_t bytes;
    std::uint64_t ticks, longest_ticks;
    std::uint64_t waits, wait_ticks, longest_wait_ticks;
    std::uint64_t slow, slow_ticks;               ///< much longer than usual, though the thread did not sleep
    std::uint64_t interrupted, interrupted_ticks; ///< of these, those in which it was taken off its processor
    std::uint64_t slow_faults;                    ///< pages that such calls touched first
    std::uint64_t object;                         ///< what was waited for last: a frame, as in a stack, or an address
    std::uint64_t null_frees;                     ///< free(nullptr)
};

struct interval_record { ///< a stay in a region, or several with little between them
    std::uint64_t first, last;
    std::uint32_t node, unused;
};

struct wait_record {
    std::uint64_t first, ticks;
    std::uint32_t site;
    std::uint32_t holder; ///< the thread that held the lock; 0: not known
};

/// A stack is { its depth; for each frame, innermost first, the module's number + 1 in the 16 high bits and the offset
/// in the low 48, or the address when it is in no module; what only the process itself reads }. The frames are return
/// addresses.
constexpr unsigned module_shift = 48;

struct thread_area {
    std::uint32_t thread;
    thread_kind kind;
    std::uint64_t first, last; ///< last 0: it has not ended
    std::uint64_t created;     ///< when it was asked for; 0: not known
    char name[16];
    std::uint64_t routine; ///< a frame: what it was started with
    std::uint32_t nodes, sites, stack_words, intervals, waits;
    std::uint32_t reused;               ///< threads with the same routine that took it over, one after the other
    std::uint64_t wait_threshold_ticks; ///< shorter ones are not in the list any more
    std::uint64_t thinned_waits;
    std::uint64_t lost_stacks, lost_sites, lost_nodes; ///< calls counted without their stack, site, or region
    std::uint64_t misses;                              ///< stacks that were unwound by tables
    std::uint64_t latest;                              ///< the last moment at which something was written
    // A wait that has not ended: the thread may never come back from it.
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
