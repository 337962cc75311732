// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The results of a run, added up from its recordings: for each region where its threads spent their time, and in which
/// places.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "observe/hook/interpose/calls.hpp"
#include "observe/symbols/symbols.hpp"
#include "observe/watch/recording.hpp"

namespace tenure::lab {

/// Calls of one function from one stack, or from one place of the program, in all threads that made them.
struct watched_site {
    hook::call call{};
    std::vector<named_frame> stack;  ///< innermost first; inlined functions have frames of their own
    std::size_t blamed = 0;          ///< index of the first frame of `stack` that belongs to the program
    std::string object;              ///< the object waited for: a variable or an address; may be empty
    std::set<std::uint32_t> threads; ///< of threads that share an area, only the last one
    bool has_more_threads = false;   ///< true: further threads wrote to the same area
    std::uint64_t count = 0, bytes = 0, null_frees = 0;
    double ns = 0, longest_ns = 0;
    std::uint64_t waits = 0;
    double wait_ns = 0, longest_wait_ns = 0;
    std::uint64_t slow = 0, slow_faults = 0; ///< slow calls in which the thread did not sleep
    double slow_ns = 0;
    std::uint64_t interrupted = 0; ///< of the slow calls, those in which the thread was preempted
    double interrupted_ns = 0;
    std::map<std::uint32_t, std::uint64_t> holders; ///< threads that held the lock -> number of times
    bool is_wait = false;                           ///< the call is always a wait, not only when it is slow
    bool is_tenures = false;                        ///< the call was made through Tenure and seen on its way to malloc
};

/// The parts of a region's time. Their sum is its duration times its threads.
struct region_time {
    double total_ns = 0;
    double running_ns = 0;
    double allocation_ns = 0; ///< in allocation and release, without waits
    double mapping_ns = 0;
    double faults_ns = 0; ///< an estimate: pages touched first, times the cost of one
    double waiting_ns = 0;
    double queued_ns = 0;      ///< able to run, but without a processor
    double idle_ns = 0;        ///< the region's threads were not in it: late, early, or without work
    double unexplained_ns = 0; ///< asleep outside of every intercepted call
};

/// The kernel's figures, for the periods between two questions to it.
struct kernel_account {
    double asked_share = 0;                                            ///< of the time inside
    double processor_ns = 0, queue_ns = 0, user_ns = 0, system_ns = 0; ///< scaled to the whole time
    double small_faults = 0, large_faults = 0, voluntary = 0, involuntary = 0;
};

/// A period in which a thread was in the region, for the timeline.
struct timeline_stay {
    double first_ns = 0, last_ns = 0;
};
struct timeline_wait {
    double first_ns = 0, last_ns = 0;
    std::size_t site = 0; ///< index in the region's `sites`
};
struct timeline_thread {
    std::uint32_t thread = 0;
    std::string name;
    std::vector<timeline_stay> stays;
    std::vector<timeline_wait> waits;
    std::uint64_t thinned = 0; ///< shorter waits, counted but not drawn
};

struct watched_region {
    hook::region_kind kind{};
    std::string name;  ///< for people
    std::string place; ///< file and line, if known
    std::uint32_t process = 0;
    std::size_t recording = 0; ///< index in the list of processes: one process may execute several programs
    std::uint64_t threads = 0, entries = 0, instances = 0, max_at_once = 0;
    double span_ns = 0;                          ///< from begin to end, all instances
    double longest_ns = 0;                       ///< longest stay of one thread
    double min_inside_ns = 0, max_inside_ns = 0; ///< of its threads
    double late_ns = 0;                          ///< part of the idle time: from the region's begin to the entry
    std::uint64_t quick_locks = 0, calls = 0, allocations = 0, releases = 0, null_frees = 0, allocated_bytes = 0;
    std::uint64_t waits = 0;
    bool is_open = false; ///< a thread was still inside when the recording ended
    region_time time;
    kernel_account kernel;
    std::vector<watched_site> stacks; ///< each call in each stack, most expensive first
    std::vector<watched_site> sites;  ///< merged by place, with the most expensive stack; most expensive first
    std::vector<timeline_thread> timeline;
    std::string advice; ///< a sentence or two
};

struct watched_process {
    std::uint32_t process = 0, parent = 0;
    bool is_child = false, has_own_malloc = false;
    std::string program, command;
    hook::process_end end{};
    int signal = 0;             ///< the signal that ended it, if known
    bool has_exit_code = false; ///< its parent saw it exit
    int exit_code = 0;
    int refusal = 0; ///< errno: why threads have no record
    std::uint64_t lost_entries = 0;
    double span_ns = 0;
    std::uint64_t threads = 0, lost_threads = 0;
    std::uint64_t lost_stacks = 0, lost_sites = 0, lost_nodes = 0, unwound = 0;
    double fault_ns = 0;
};

/// A tn_mark() event.
struct watched_moment {
    std::uint32_t process = 0, thread = 0;
    double at_ns = 0; ///< since the process began
    std::string name;
};

struct findings {
    std::vector<watched_process> processes;
    std::vector<watched_region> regions; ///< the one with the most time first
    std::vector<watched_moment> moments; ///< earliest first
    std::uint64_t lost_moments = 0;
    std::vector<std::string> notices;
};

[[nodiscard]] findings explain(const std::vector<std::unique_ptr<recording>>& recordings, symbols& names);

/// The shares of a region's time lost to allocation and mapping, and to waiting.
[[nodiscard]] double allocation_share(const watched_region& region);
[[nodiscard]] double waiting_share(const watched_region& region);

[[nodiscard]] std::string word_of(hook::region_kind kind);

}
