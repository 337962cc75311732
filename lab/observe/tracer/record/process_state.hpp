// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The recording of this process: its file, and what all threads share.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/host.hpp>

#include "observe/trace/access/live_blocks.hpp"
#include "observe/trace/trace_format.hpp"
#include "observe/tracer/record/code_ranges.hpp"
#include "observe/tracer/record/recording_file.hpp"
#include "observe/tracer/record/stack_table.hpp"
#include "observe/tracer/record/token_map.hpp"

namespace tenure::lab::tracer {

/// Part of the file, mapped. `memory` is nullptr if the file could not grow; the file's header then says why.
struct file_part {
    void* memory;
    std::uint32_t bytes;
};
/// A lock for moments. Zeroed memory is an open one.
class moment_lock {
public:
    void lock() noexcept {
        for (unsigned look = 0; is_locked_.exchange(1, std::memory_order_acquire) != 0; ++look)
            host::let_others_run(look);
    }
    void unlock() noexcept { is_locked_.store(0, std::memory_order_release); }

private:
    std::atomic<std::uint32_t> is_locked_;
};
class moment_scope {
public:
    explicit moment_scope(moment_lock& lock) noexcept : lock_(lock) { lock_.lock(); }
    ~moment_scope() { lock_.unlock(); }
    moment_scope(const moment_scope&) = delete;
    moment_scope& operator=(const moment_scope&) = delete;

private:
    moment_lock& lock_;
};

/// The unused ends of chunks.
struct spare_parts {
    static constexpr std::uint32_t capacity = 256;
    moment_lock lock; ///< taken when a thread begins, needs a chunk, or ends
    std::uint32_t count;
    file_part parts[capacity];
};
/// What was written of the process's mappings.
struct written_texts {
    moment_lock lock;
    std::uint32_t count;                  ///< how often they were written
    std::atomic<std::uint32_t> is_wanted; ///< to be written again: they lack code, or could not be written
    std::uint64_t last_ns;                ///< when they were written last
    code_ranges code;                     ///< in them
};

/// Counts the blocks of each call stack. Of more stacks than places, several share one.
class ordinals {
public:
    [[nodiscard]] std::uint32_t next(std::uint32_t stack) noexcept {
        return counts_[stack % capacity].fetch_add(1, std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t capacity = std::size_t{1} << 16;

    std::atomic<std::uint32_t> counts_[capacity];
};

/// It lies in memory that a fork's child gets as zeros, however the child was made: then it is a recording that has not
/// begun, and nothing in the child writes to the parent's file.
struct process_state {
    std::atomic<std::uint32_t>
        generation; ///< of this recording among those of the process's ancestors; zero: not begun
    moment_lock beginning;
    trace_format::file_header* head;
    recording_file file;
    std::atomic<std::uint64_t> next_try_ns; ///< when the file may grow again, after it could not for the moment
    written_texts texts;
    live_blocks* listed; ///< in the file; nullptr: blocks in use are not listed
    token_map tokens;
    stack_table stacks;
    ordinals allocated;
    spare_parts spares;
};

/// nullptr before the first recording begins.
extern std::atomic<process_state*> state_of_process;
/// Its generation, or a zero. Never nullptr.
extern std::atomic<const std::atomic<std::uint32_t>*> generation_of_process;

/// Begins a recording if it can. Cost      system calls, until it has begun or was refused.
/// Returns   whether one has begun.
[[nodiscard]] bool begin_recording() noexcept;

/// Read from the environment once: the program may change it, and its forks' children keep these.
struct chosen_settings {
    std::uint32_t stack_frames = 0;
    bool has_free_stacks = false; ///< only with stack_frames
    bool lists_blocks = false;    ///< for `tenure record --access`
    std::uint64_t sample_bytes = 0;
    std::uint64_t process = 0;   ///< that `tenure record` has started
    std::uint64_t recording = 0; ///< its number
    char file[recording_file::max_path_bytes + 1] = {};
};
extern chosen_settings chosen;

constexpr std::uint32_t chunk_bytes = 262144;
constexpr std::size_t max_event_bytes = 48; ///< of allocate, free or resize with the free of another

/// Appends a chunk to the file, or takes the unused end of another. It is zero. An error that may be gone a moment
/// later ends nothing: a later call tries again. Preserves errno.
[[nodiscard]] file_part add_chunk() noexcept;
/// A chunk gets no more events. Its memory goes; the file keeps its contents, and its pages behind `used` may become
/// another chunk.
void release_chunk(trace_format::chunk_header& chunk) noexcept;

// Threads   any. The thread is busy (thread_log.hpp).

/// Writes the process's mappings and their build IDs into the file; the first time its command line too.
void write_texts() noexcept;
/// Does so if they are to be written again. A process that maps code all the time has them written some 16 times, and
/// then once in 4 s.
void write_late_texts() noexcept;
/// Has them written again if one of these addresses is not in code that they tell of: a plug-in that was loaded later.
void note_code(void* const* frames, std::size_t count) noexcept;

/// Notes that the process ends.
void note_exit() noexcept;

}
