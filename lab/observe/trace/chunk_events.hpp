// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Decodes the events of one chunk of a trace. Each chunk can be read without those before it.

#include <cstdint>
#include <string_view>
#include <vector>

#include "observe/trace/trace.hpp"
#include "observe/trace/trace_format.hpp"

namespace tenure::lab {

/// What names a block in a file: the thread that allocated it, and a running number of that thread.
struct block_name {
    std::uint32_t thread = 0;
    std::uint64_t number = 0;

    friend bool operator==(const block_name&, const block_name&) = default;
};

struct chunk_event {
    enum class what : std::uint8_t { allocate, deallocate, resize, unknown_free, stack, frame, mark };

    what is = what::allocate;
    trace_family family = trace_family::malloc;
    std::uint8_t alignment_log2 = 4;
    std::uint32_t stack = 0; ///< number in the file
    std::uint64_t bytes = 0;
    std::uint64_t ticks = 0;
    block_name block;         ///< that is freed or resized: its name before
    std::uint64_t number = 0; ///< of the block that is allocated or resized, in the chunk's thread
    std::string_view name;    ///< of a mark
};

class chunk_events {
public:
    /// `payload` must stay valid.
    chunk_events(const trace_format::file_header& file, const trace_format::chunk_header& chunk,
                 std::string_view payload);

    /// The next event. Returns   false at the end, and at damage.
    [[nodiscard]] bool next(chunk_event& to);
    [[nodiscard]] bool is_damaged() const { return is_damaged_; }
    /// The frames of the last event, if it was a stack.
    [[nodiscard]] const std::vector<std::uint64_t>& frames() const { return frames_; }

private:
    [[nodiscard]] std::uint64_t little(std::size_t bytes);
    [[nodiscard]] std::uint64_t number();
    [[nodiscard]] std::int64_t signed_number();
    [[nodiscard]] block_name own_name(std::uint64_t distance) const;
    [[nodiscard]] block_name other_name(std::uint64_t thread);
    [[nodiscard]] block_name any_name();
    [[nodiscard]] std::uint32_t stack_number();
    void take_number(chunk_event& to);
    void read_allocation(trace_format::event_kind kind, std::uint64_t value, chunk_event& to);
    void read_stack(chunk_event& to);
    /// Returns   false if it was no event but a time.
    [[nodiscard]] bool read_other(std::uint64_t which, chunk_event& to);

    std::string_view payload_;
    std::size_t at_ = 0;
    std::uint32_t thread_;
    bool has_stacks_, has_free_stacks_;
    std::uint32_t tick_shift_;
    std::uint64_t next_, ticks_, other_number_ = 0;
    std::vector<std::uint64_t> frames_;
    bool is_damaged_ = false;
};

}
