// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Chunks of accesses in a trace's file: the windows in which blocks had watchpoints.
///
/// A payload is windows, one behind another; each chunk can be read alone. All is in numbers (trace_format.hpp):
///
///   window: bytes that follow; begin, in ns since the recording began; length in ns; window_choice; ns that a hit
///   costs;
///           hits of a thread after which its watchpoint is removed; number of blocks
///   block:  its name: thread, number; offset of the watched bytes; accesses counted; accesses that follow
///   access: ns since the one before, or since the window began; thread; signed: code address less the one before in
///           the window
///   behind the last block: 1 + ns of processor time that the process took in the window; zero or missing: not known
///
/// What follows then is skipped: a later version may say more there.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "observe/trace/chunk_events.hpp"
#include "observe/trace/part/older_blocks.hpp"
#include "observe/trace/trace.hpp"
#include "observe/trace/trace_chunks.hpp"

namespace tenure::lab {

/// Blocks of a window, at most. The recorder has four.
inline constexpr std::size_t max_window_blocks = 16;

/// Accesses of a block in a window that are read, at most. The recorder writes 64.
inline constexpr std::size_t max_block_accesses = 1024;

/// Appends a window to a payload. `names`: of its blocks, in their order.
void append_window(std::string& payload, const access_window& window, const std::vector<block_name>& names);

/// Bytes of a payload after which a writer begins another chunk.
inline constexpr std::size_t full_access_payload = 200'000;

/// The windows of a file, whose blocks are found while its events are merged.
class access_chunks {
public:
    /// Reads them. `max_items`: windows, blocks and accesses, at most: a small file can have very many.
    access_chunks(const trace_chunks& file, std::uint64_t max_items, std::string& damage);

    /// An event of the file gives this name to a block. `event`: the index that it gets in trace::events.
    void see(const block_name& name, std::uint64_t block, std::uint64_t event) {
        if (names_.empty()) return;
        if (const auto found = names_.find(name); found != names_.end()) found->second = {block, event};
    }
    /// Moves the windows into the trace, by time: without blocks that no event has named, and accesses of memory that
    /// was not yet or no longer the block's under this name: a resize moves a block, and gives it another name.
    /// Requires  all events are there.
    void put(trace& to);

private:
    static constexpr std::uint64_t unknown = ~std::uint64_t{0};
    struct named_block {
        std::uint64_t block = unknown, event = 0;
        std::uint64_t begin_ns = 0, end_ns = ~std::uint64_t{0}; ///< when it had the name
    };
    struct named_window {
        access_window window;
        std::vector<block_name> names;
    };

    [[nodiscard]] bool read(std::string_view payload);
    void find_times(const trace& of);

    std::uint64_t left_;
    std::vector<named_window> windows_;
    std::unordered_map<block_name, named_block, block_name_hash> names_;
};

}
