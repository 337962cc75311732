// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A trace, prepared for replay: an array of operations per thread, whose blocks are numbered by slot. The timed loop
/// reads one operation after another and looks nothing up.
///
/// A slot is the place of one pointer. When a block is freed its slot is used again, so the slots are as many as blocks
/// were in use at the same time, and stay in the processor's caches as the program's own pointers would.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// What replay does. Each allocating call of a trace has its own, and so has each way to free its blocks.
enum class plan_call : std::uint8_t {
    allocate,     ///< malloc
    zeroed,       ///< calloc
    aligned,      ///< aligned_alloc
    operator_new, ///< operator new
    aligned_new,  ///< operator new with an alignment
    resize,       ///< realloc
    release,      ///< free
    operator_delete,
    aligned_delete,
    // Redirected blocks: see plan_route.
    take,        ///< allocate from the operation's route
    take_zeroed, ///< and clear the block
    give,        ///< free to the operation's route
    drop,        ///< the program frees here, and the route needs no call: its memory ends later
    keep,        ///< the program reallocates here, and the block has room
    open,        ///< a temp_scope begins
    close,       ///< and ends
    clear,       ///< the route's arena is cleared
    frame,       ///< next_frame()
    // No call: about the next operation.
    written, ///< its block holds so many bytes already; what is behind them is new
};

/// One operation. Replay walks over millions, so it has 16 bytes.
struct plan_op {
    std::uint64_t bytes : 48; ///< asked for; of calls that free: of the block; `written`: see there
    std::uint64_t route : 16; ///< index in replay_plan::routes; 0: the malloc that is measured
    std::uint32_t slot;
    std::uint16_t stage; ///< blocks that several threads use: see stage_of(). 0: no other thread uses it
    plan_call call;
    std::uint8_t alignment_log2;

    void set_bytes(std::uint64_t count) { bytes = count & ((std::uint64_t{1} << 48) - 1); }
};
static_assert(sizeof(plan_op) == 16);

/// The n-th operation (from 0) on a block that several threads use waits until the one before it is done, and then
/// stores its own stage beside the block's slot.
[[nodiscard]] constexpr std::uint16_t stage_of(std::uint64_t index) { return static_cast<std::uint16_t>(index + 1); }
/// Operations on one block that have stages.
inline constexpr std::uint64_t max_stages = 65'535;

/// Slots in a cache line. Each thread's slots begin in a line of their own. A block that several threads use has a
/// whole line: its slot, and behind it its stage.
inline constexpr std::uint32_t line_slots = 8;

/// Scopes of Temp that may be open in one another.
inline constexpr std::size_t max_open_scopes = 16;

/// Which allocator of Tenure serves redirected blocks.
enum class route_kind : std::uint8_t {
    malloc,      ///< not redirected
    temp,        ///< Temp, in scopes or frames
    temp_job,    ///< TempJob
    pool,        ///< block_pool
    shared_pool, ///< shared_block_pool
    arena,       ///< an arena that is cleared when none of its blocks is in use
    affinity,    ///< an affinity group
};

struct plan_route {
    route_kind kind = route_kind::malloc;
    std::uint8_t alignment_log2 = 4;
    std::uint64_t bytes = 0; ///< of a pool's block
};

/// The operations of one thread.
struct plan_thread {
    std::uint64_t first = 0, count = 0; ///< in replay_plan::ops
    std::uint64_t tail = 0;             ///< operations behind these: they free what the program had not freed
};

/// A place of the trace at which memory is read.
struct plan_place {
    std::uint64_t op = 0;         ///< operations until then, of the only thread
    std::uint64_t event = 0;      ///< events until then
    std::uint64_t time_ns = 0;    ///< when the program was there; never falling
    std::uint64_t live_bytes = 0; ///< in use then, as asked for
};

/// Places at equal distances in events. The peak of the live bytes is one more.
inline constexpr std::uint64_t plan_places = 200;

inline constexpr std::uint32_t no_neighbour = 0xFFFFFFFF;

struct replay_plan {
    std::vector<plan_op> ops; ///< of the threads, one after the other
    std::vector<plan_thread> threads;
    std::vector<plan_route> routes{1};     ///< the first is "not redirected"
    std::vector<plan_place> places;        ///< from the begin to the end, in their order; empty for several threads
    std::vector<std::uint32_t> neighbours; ///< by operation: see neighbours_of(); empty: not asked for
    std::uint64_t slot_count = 0;
    std::uint64_t shared_slot_count = 0; ///< of these, the first ones: lines of blocks that several threads use
    std::uint64_t calls = 0;             ///< that allocate, resize and free, as the program made them
    std::uint64_t blocks = 0;            ///< allocated
    std::uint64_t left = 0;              ///< blocks in use at the end
    std::uint64_t left_bytes = 0;        ///< their bytes
    std::uint64_t peak_bytes = 0;        ///< in use at the same time, as asked for
    std::uint64_t peak_op = 0;           ///< operations until then; meaningful for one thread
    std::uint64_t allocated_bytes = 0;   ///< in the whole trace
    std::string error;                   ///< why the trace cannot be replayed, in a sentence; empty when it can

    [[nodiscard]] bool ok() const { return error.empty(); }
};

/// When a scope of Temp is open.
struct temp_scope_time {
    std::uint64_t begin = 0;  ///< it opens before this event
    std::uint64_t end = 0;    ///< and closes before this one; larger than any event: after the trace
    std::uint32_t thread = 0; ///< of the trace
};

/// Where the blocks of a trace go, other than to the malloc that is measured.
struct block_routes {
    std::vector<plan_route> routes{1};
    std::vector<std::uint16_t> route_of_block; ///< by trace_event::block; empty: none is redirected
    std::vector<std::uint64_t> reserved_bytes; ///< by trace_event::block: asked for at once; empty or 0: as recorded
    std::vector<temp_scope_time> scopes;       ///< of routes of Temp; those that no scope holds end with next_frame()
};

enum class plan_threads : std::uint8_t {
    folded,   ///< one thread does everything, in the order of the trace
    recorded, ///< a thread for each of the trace; a block that crosses threads is handed over
};

/// Prepares a trace.
/// Returns   a plan; with an error when the trace is empty or contradicts itself, as a damaged one does.
[[nodiscard]] replay_plan make_plan(const trace& recorded, plan_threads how = plan_threads::folded,
                                    const block_routes& redirected = {});

}
