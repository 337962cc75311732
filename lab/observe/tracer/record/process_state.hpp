// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The recording of this process: its file, and what all threads share.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "observe/trace/trace_format.hpp"
#include "observe/tracer/record/stack_table.hpp"
#include "observe/tracer/record/token_map.hpp"

namespace tenure::lab::tracer {

/// Part of the file, mapped. `memory` is nullptr if the file could not grow; the file's header then says why.
struct file_part {
    void* memory;
    std::uint32_t bytes;
};
/// The unused ends of chunks.
struct spare_parts {
    static constexpr std::uint32_t capacity = 256;
    std::atomic<std::uint32_t> is_locked; ///< when a thread begins, needs a chunk, or ends
    std::uint32_t count;
    file_part parts[capacity];
};

/// It lies in memory that a fork's child gets as zeros, however the child was made: then it is a recording that has not
/// begun, and nothing in the child writes to the parent's file.
struct process_state {
    std::atomic<std::uint32_t>
        generation; ///< of this recording among those of the process's ancestors; zero: not begun
    std::atomic<std::uint32_t> is_beginning;
    trace_format::file_header* head;
    std::uint32_t texts; ///< how often they were written
    token_map tokens;
    stack_table stacks;
    spare_parts spares;
};

/// nullptr before the first recording begins.
extern std::atomic<process_state*> state_of_process;
/// Its generation, or a zero. Never nullptr.
extern std::atomic<const std::atomic<std::uint32_t>*> generation_of_process;

/// Begins a recording if it can. Cost      system calls, until it has begun or was refused.
/// Returns   whether one has begun.
[[nodiscard]] bool begin_recording() noexcept;

struct chosen_settings {
    std::uint32_t stack_frames = 0;
    std::uint64_t sample_bytes = 0;
};
/// Set when the recording begins.
extern chosen_settings chosen;

constexpr std::uint32_t chunk_bytes = 262144;
constexpr std::size_t max_event_bytes = 48; ///< of allocate, free or resize with the free of another

/// Appends a chunk to the file, or takes the unused end of another. It is zero. Preserves errno.
[[nodiscard]] file_part add_chunk() noexcept;
/// A chunk gets no more events. Its memory goes; the file keeps its contents, and its pages behind `used` may become
/// another chunk.
void release_chunk(trace_format::chunk_header& chunk) noexcept;

/// Writes the process's mappings, their build IDs and its command line into the file. Threads   one at a time.
void write_texts() noexcept;
/// Notes that the process ends.
void note_exit() noexcept;

}
