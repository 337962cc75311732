// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Makes the events of a trace from calls that name blocks by their addresses.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "observe/trace/import/trace_import.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// What a recording says of a call besides its block.
struct imported_call {
    std::uint64_t thread = 0;  ///< its number in the recording
    std::uint64_t time_ns = 0; ///< from any beginning; up to max_time_ns
    std::uint32_t stack = 0;   ///< an index in trace::stacks
    trace_family family = trace_family::malloc;
    std::uint8_t alignment_log2 = 4;
};

class imported_events {
public:
    static constexpr std::uint64_t max_time_ns = std::uint64_t{1} << 62;
    static constexpr std::uint64_t no_block = ~std::uint64_t{0};

    imported_events(trace& to, const import_limits& limits) : to_(to), limits_(limits) {}

    /// Allocates a block that has no address. Returns   its number; no_block if there is no room for its event.
    std::uint64_t allocate(const imported_call& call, std::uint64_t bytes);
    /// Frees a block in use.
    void deallocate(const imported_call& call, std::uint64_t block);

    /// A block in use at the same address ends: its free is late or missing.
    void allocate_at(std::uint64_t address, const imported_call& call, std::uint64_t bytes);
    void deallocate_at(std::uint64_t address, const imported_call& call);
    void resize_at(std::uint64_t old_address, std::uint64_t address, const imported_call& call, std::uint64_t bytes);
    void unknown_free() { ++to_.unknown_frees; }

    /// Another thread may have the number from now on.
    void end_thread(std::uint64_t thread) { threads_.erase(thread); }
    /// Why no more events are taken, in a sentence; empty while they are.
    [[nodiscard]] const std::string& why_full() const { return why_full_; }
    /// Lets time begin with the earliest event.
    void finish();

private:
    struct facts {
        std::uint64_t bytes;
        trace_family family;
        std::uint8_t alignment_log2;
    };

    /// Whether the events of a call have room.
    [[nodiscard]] bool has_room(const imported_call& call);
    std::uint64_t put_new(const imported_call& call, std::uint64_t bytes);
    void put(trace_call what, const imported_call& call, std::uint64_t block);
    /// Returns   the block at this address, which has none from now on.
    [[nodiscard]] std::uint64_t take_from(std::uint64_t address);

    trace& to_;
    import_limits limits_;
    std::vector<facts> blocks_;
    std::unordered_map<std::uint64_t, std::uint64_t> addresses_; ///< of blocks in use
    std::unordered_map<std::uint64_t, std::uint32_t> threads_;   ///< number in the recording to that in the trace
    std::vector<std::uint64_t> last_ns_;                         ///< of each thread
    std::string why_full_;
};

}
