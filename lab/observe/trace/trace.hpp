// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The allocations of a program, one by one: what `tenure record` has recorded, in memory. Replay and advice read this
/// and know nothing of the file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenure::lab {

enum class trace_call : std::uint8_t {
    allocate,
    deallocate,
    resize, ///< realloc of a block in use; it stays the same block, also where it moved
    frame,  ///< the program's frame ended: tn_next_frame()
    mark,   ///< a phase of the program began: `block` is the index in trace::marks
};

/// Which functions of the program made the call, so that replay makes the same.
enum class trace_family : std::uint8_t {
    malloc,
    zeroed,  ///< calloc
    aligned, ///< posix_memalign, aligned_alloc, memalign
    operator_new,
    aligned_new,
};

struct trace_event {
    std::uint64_t block = 0;   ///< blocks are numbered from 0 in the order of their allocation in trace::events
    std::uint64_t bytes = 0;   ///< asked for; of deallocate: what the block had
    std::uint64_t time_ns = 0; ///< since the recording began; as exact as the file tells, never falling within a thread
    std::uint32_t thread = 0;  ///< threads are numbered from 0 in the order of their first event
    std::uint32_t stack = 0;   ///< an index in trace::stacks; 0: not recorded, as of deallocate in many traces
    trace_call call = trace_call::allocate;
    trace_family family = trace_family::malloc;
    std::uint8_t alignment_log2 = 4; ///< asked for, where the family says it; otherwise 4
};

/// A call stack: return addresses, innermost first.
struct trace_stack {
    std::vector<std::uint64_t> frames;
};

struct trace_mapping {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t file_offset = 0; ///< of `begin`
    std::string path;
    std::string build_id; ///< in hex digits; empty: not known
};

/// A read or write of the watched bytes of a block.
struct trace_access {
    std::uint64_t time_ns = 0; ///< since the recording began
    std::uint64_t code = 0;    ///< address behind the instruction that made it
    std::uint32_t thread = 0;  ///< tells the threads of one window apart; not a number of trace_event::thread
};

/// A block that had a watchpoint on up to 8 of its bytes.
struct watched_block {
    std::uint64_t block = 0;            ///< by trace_event::block
    std::uint32_t offset = 0;           ///< of the watched bytes in the block
    std::uint32_t count = 0;            ///< accesses, until the watchpoint was removed for being hot
    std::vector<trace_access> accesses; ///< the first of them, by time
};

/// How the blocks of a window were chosen.
enum class window_choice : std::uint8_t {
    random,     ///< each block in use has the same chance
    successive, ///< blocks 0 and 1, and blocks 2 and 3, were allocated one soon after the other by one thread
    matched,    ///< blocks 0 and 1 are the n-th ones of two call stacks, and blocks 2 and 3 the m-th ones of both
};

/// A time in which a few blocks had watchpoints.
struct access_window {
    std::uint64_t begin_ns = 0, end_ns = 0;
    window_choice choice = window_choice::random;
    std::uint64_t hit_ns = 0;   ///< that a watched access costs the program, about: times behind it are later by that
    std::uint32_t max_hits = 0; ///< after so many the watchpoint of a thread was removed; zero: not known
    std::vector<watched_block> blocks;
    std::uint64_t processor_ns = unknown_ns; ///< that the process ran in the window, about, all threads together

    static constexpr std::uint64_t unknown_ns = ~std::uint64_t{0};
};

/// Where a part lies in the trace that it was cut from.
struct trace_part {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = UINT64_MAX;
    std::uint64_t whole_ns = 0;     ///< when the last event of that trace was, or of what was read of it
    std::uint64_t older_blocks = 0; ///< the first so many blocks were in use when the part began
};

/// The events are in an order that may have been: each block is allocated before it is resized and freed, each thread's
/// events are in its own order, and otherwise time decides. A block that the recording does not see allocated has no
/// event; one without deallocate was in use at the end.
struct trace {
    std::vector<trace_event> events;
    std::vector<trace_stack> stacks{1};  ///< the first is "not recorded"
    std::vector<trace_mapping> mappings; ///< by address
    std::vector<std::string> marks;      ///< names of phases
    std::vector<access_window> windows;  ///< of `tenure record --access`, by time
    std::vector<std::string> arguments;  ///< the command line of the program
    std::uint64_t blocks = 0;            ///< how many `events` allocates
    bool is_part = false;                ///< cut_trace() has made it
    std::optional<trace_part> part;      ///< of a part, also of one that was read from a file
    std::uint64_t older_blocks = 0;      ///< of a part: the first so many were in use when it began
    std::uint64_t whole_ns = 0; ///< of a part: when the last event was, of the whole trace or of what was read of it
    std::uint32_t threads = 0;
    std::uint32_t process = 0;
    std::uint64_t recording = 0;     ///< number that all files of one `tenure record` have; 0: not known
    std::uint64_t started_ms = 0;    ///< when the recording began, since 1970; 0: not known
    std::uint32_t stack_frames = 0;  ///< most frames of a stack: one with so many may be cut short; 0: none is
    bool has_free_stacks = false;    ///< deallocate has its stack too
    std::uint64_t sample_bytes = 0;  ///< one in so many allocated bytes was recorded, with its block; zero: all were
    std::uint64_t unknown_frees = 0; ///< of blocks that were allocated before the recording; not among the events
    std::string damage; ///< empty: the file is whole; otherwise what of it could not be read, in a sentence
    std::string error;  ///< empty when all else is valid; otherwise a sentence, without the file's name

    [[nodiscard]] bool ok() const { return error.empty(); }
};

}
