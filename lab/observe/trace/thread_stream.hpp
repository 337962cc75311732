// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The events of one thread of a trace, and the blocks that it has allocated.

#include <cstdint>
#include <string>
#include <vector>

#include "observe/trace/chunk_events.hpp"
#include "observe/trace/trace_chunks.hpp"

namespace tenure::lab {

/// Bytes that all streams of a file may hold of decompressed chunks: a small file can have very many threads.
struct payload_budget {
    std::uint64_t left_bytes;
};

/// The chunks of one thread, in their order, as one stream of events.
class thread_stream {
public:
    thread_stream(const trace_format::file_header& file, payload_budget& budget, std::uint32_t id)
        : file_(file), budget_(&budget), id_(id) {}
    void add(const trace_chunk& chunk) { chunks_.push_back(&chunk); }
    /// Sorts the chunks, and goes to the first event. `is_part`: chunks before the first are not missing.
    void begin(std::string& damage, bool is_part = false);
    [[nodiscard]] std::uint32_t id() const { return id_; } ///< number of the thread in the file

    [[nodiscard]] bool is_over() const { return is_over_; }
    [[nodiscard]] const chunk_event& now() const { return now_; }
    /// Goes to the next event.
    void advance(std::string& damage);
    /// Numbers below this one have been passed.
    [[nodiscard]] std::uint64_t passed() const { return passed_; }

    static constexpr std::uint64_t no_block = ~std::uint64_t{0};
    /// The block of a number that this stream has allocated; no_block if it is not in use.
    [[nodiscard]] std::uint64_t block_of(std::uint64_t number);
    void set_block(std::uint64_t number, std::uint64_t block);
    void forget(std::uint64_t number);

    std::uint32_t thread = 0; ///< in the trace
    bool has_thread = false;
    std::uint64_t last_ns = 0;
    bool is_forced = false; ///< what it waits for does not come

private:
    [[nodiscard]] bool open_next_chunk(std::string& damage);
    [[nodiscard]] std::uint64_t* place_of(std::uint64_t number);
    /// Returns   false if there is no room for this chunk's payload.
    [[nodiscard]] bool hold(const trace_chunk& chunk);
    void hold_nothing();

    struct segment {
        std::uint64_t first, base, count; ///< numbers from `first` have their blocks from `base`
    };

    const trace_format::file_header& file_;
    std::vector<const trace_chunk*> chunks_;
    std::size_t next_chunk_ = 0;
    std::string buffer_;
    payload_budget* budget_;
    std::uint32_t id_;
    std::uint64_t held_bytes_ = 0;     ///< of the budget
    std::vector<chunk_events> events_; ///< of the open chunk; at most one
    chunk_event now_;
    bool is_over_ = false;
    std::uint64_t passed_ = 0, expected_sequence_ = 0;
    std::vector<segment> segments_;
    std::vector<std::uint64_t> blocks_;
};

}
