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

/// It lies in memory that a fork's child gets as zeros, however the child was made: then it is a recording that has not
/// begun, and nothing in the child writes to the parent's file.
struct process_state {
    std::atomic<std::uint32_t>
        generation; ///< of this recording among those of the process's ancestors; zero: not begun
    std::atomic<std::uint32_t> is_beginning;
    trace_format::file_header* head;
    token_map tokens;
    stack_table stacks;
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

/// Part of the file, mapped. `memory` is nullptr if the file could not grow; the file's header then says why.
struct file_part {
    void* memory = nullptr;
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
};
constexpr std::uint32_t chunk_bytes = 65536;

/// Appends a chunk to the file. It is zero. Preserves errno.
[[nodiscard]] file_part add_chunk() noexcept;
/// The memory goes; the file keeps its contents.
void unmap_chunk(void* memory, std::uint32_t bytes) noexcept;

/// Writes the process's mappings, their build IDs and its command line into the file. Threads   one at a time.
void write_texts() noexcept;
/// Notes that the process ends.
void note_exit() noexcept;

}
