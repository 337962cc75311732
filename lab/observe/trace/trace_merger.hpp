// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Merges the events of a trace's threads into one order: what an event depends on comes before it, otherwise time
/// decides.

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "observe/trace/access/access_chunks.hpp"
#include "observe/trace/limits/call_stacks.hpp"
#include "observe/trace/limits/trace_limits.hpp"
#include "observe/trace/part/older_blocks.hpp"
#include "observe/trace/thread_stream.hpp"
#include "observe/trace/trace.hpp"
#include "observe/trace/trace_chunks.hpp"
#include "observe/trace/trace_clock.hpp"

namespace tenure::lab {

/// Fills the events of a trace.
class trace_merger {
public:
    /// `before`: what the chunks of the file that are not in `file` have left. Their blocks are allocated first. It is
    /// used up. `accesses`: they are told which block each name is of.
    trace_merger(const trace_chunks& file, trace& to, const trace_limits& limits, access_chunks& accesses,
                 older_blocks* before = nullptr);
    void run();

private:
    struct facts {
        std::uint64_t bytes;
        trace_family family;
        std::uint8_t alignment_log2;
    };
    using turn = std::pair<std::uint64_t, std::size_t>; ///< ticks or number; index of the stream
    using queue = std::priority_queue<turn, std::vector<turn>, std::greater<>>;

    void read_stacks();
    void put_older();
    void put_early_free(const early_free& of, trace_event event);
    [[nodiscard]] std::uint32_t thread_number(std::uint32_t id);
    [[nodiscard]] thread_stream* stream_of(std::uint32_t thread);
    [[nodiscard]] bool waits(std::size_t index);
    void serve(std::size_t index);
    void put(thread_stream& from, const chunk_event& event);
    void put_allocation(thread_stream& from, const chunk_event& event, trace_event& to);
    void put_resize(thread_stream& from, const chunk_event& event, trace_event& to);
    void put_mark(const chunk_event& event, trace_event& to);
    [[nodiscard]] std::uint64_t index_of_mark(std::string name);
    [[nodiscard]] bool take_block(const block_name& name, std::uint64_t& block);
    void wake(std::size_t owner, bool all);
    [[nodiscard]] bool force_one();

    const trace_chunks& file_;
    trace& to_;
    std::uint64_t room_; ///< for so many events
    payload_budget budget_;
    std::vector<thread_stream> streams_;
    std::map<std::uint32_t, std::size_t> by_thread_;
    std::vector<queue> waiting_;          ///< of each stream: those that wait for one of its numbers
    std::vector<std::size_t> waited_for_; ///< each stream that another waits for, and some that none waits for any more
    std::vector<bool> is_listed_;         ///< in it
    queue ready_;
    std::vector<facts> blocks_;
    std::map<std::string, std::uint64_t> marks_;
    std::uint64_t mark_bytes_;                       ///< that names may still take
    std::map<std::uint32_t, std::uint32_t> threads_; ///< number in the file to that in the trace
    access_chunks& accesses_;
    older_blocks* before_;
    call_stacks own_stacks_;
    call_stacks& stacks_;                                                  ///< these, or those of `before`
    std::unordered_map<block_name, std::uint64_t, block_name_hash> older_; ///< in use: their blocks
    trace_clock clock_;
};

}
