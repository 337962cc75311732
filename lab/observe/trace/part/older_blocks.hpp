// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The blocks that are in use when a part of a trace begins.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "observe/trace/chunk_events.hpp"
#include "observe/trace/limits/call_stacks.hpp"

namespace tenure::lab {

struct block_name_hash {
    [[nodiscard]] std::size_t operator()(const block_name& of) const {
        return static_cast<std::size_t>((of.number ^ std::uint64_t{of.thread} << 40) * 0x9E37'79B9'7F4A'7C15);
    }
};

struct older_block {
    block_name name;         ///< that it has now
    std::uint64_t bytes = 0; ///< now
    std::uint64_t ticks = 0; ///< when it was allocated
    std::uint32_t stack = 0; ///< of the allocation: number in the file
    trace_family family = trace_family::malloc;
    std::uint8_t alignment_log2 = 4;
    block_name first{};   ///< that its allocation gave it
    bool is_known = true; ///< false: the event that gave the name `first` was not read yet
};

/// A free or a resize that was read before what it frees.
struct early_free {
    block_name name;
    std::uint32_t thread = 0; ///< that has freed it
    std::uint32_t stack = 0;
    bool is_resized = false;
    block_name next{}; ///< of a resized block: the name that it has now
};

/// Reads the chunks before a part, in any order, and keeps what is in use. Chunks of several threads overlap in time,
/// so a block may be freed or resized in a chunk that is read before the one that allocates it.
///
/// Memory    bytes_of_block for each block in use, and all call stacks.
class older_blocks {
public:
    /// Bytes that a block takes at most: 128 in the table, with its node, its place and the unused places, and 64 in
    /// what take_in_use() returns. After that the merger has 128 for each, and cut_trace() less.
    static constexpr std::uint64_t bytes_of_block = 192;

    older_blocks(std::uint64_t max_bytes, std::uint64_t max_stack_bytes)
        : max_blocks_(max_bytes / bytes_of_block), stacks_(max_stack_bytes) {}

    /// Returns   false if the events are damaged, or there are more blocks or stacks than the limits.
    [[nodiscard]] bool read(const trace_format::file_header& file, const trace_format::chunk_header& chunk,
                            std::string_view payload);

    /// In the order of their allocations, without those that were allocated in chunks that were not read. The others
    /// alone stay here: nothing more may be read.
    [[nodiscard]] std::vector<older_block> take_in_use();
    /// What has this name now, of the blocks that stay here; nullptr: nothing.
    [[nodiscard]] const older_block* find(const block_name& name) const;
    /// nullptr: no chunk that was read has freed or resized this block.
    [[nodiscard]] const early_free* freed_early(const block_name& name) const;
    [[nodiscard]] call_stacks& stacks() { return stacks_; }

private:
    void add(const older_block& block);
    [[nodiscard]] std::optional<older_block> take(const block_name& name);
    void free(const early_free& by);
    void resize(const early_free& by, const older_block& anew);

    std::uint64_t max_blocks_;
    std::unordered_map<block_name, older_block, block_name_hash> in_use_;
    std::unordered_map<block_name, early_free, block_name_hash> early_;
    call_stacks stacks_;
};

}
