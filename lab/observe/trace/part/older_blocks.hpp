// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The blocks that are in use when a part of a trace begins.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "observe/trace/chunk_events.hpp"

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
/// Memory    of the blocks in use, and all call stacks.
class older_blocks {
public:
    explicit older_blocks(std::uint64_t max_blocks) : max_blocks_(max_blocks) {}

    /// Returns   false if the events are damaged, or there are more blocks than the limit.
    [[nodiscard]] bool read(const trace_format::file_header& file, const trace_format::chunk_header& chunk,
                            std::string_view payload);

    /// In the order of their allocations, without those that were allocated in chunks that were not read.
    [[nodiscard]] std::vector<older_block> in_use() const;
    /// What has this name now; nullptr: nothing.
    [[nodiscard]] const older_block* find(const block_name& name) const;
    /// nullptr: no chunk that was read has freed or resized this block.
    [[nodiscard]] const early_free* freed_early(const block_name& name) const;
    [[nodiscard]] const std::map<std::uint32_t, std::vector<std::uint64_t>>& stacks() const { return stacks_; }

private:
    void add(const older_block& block);
    [[nodiscard]] std::optional<older_block> take(const block_name& name);
    void free(const early_free& by);
    void resize(const early_free& by, const older_block& anew);

    std::uint64_t max_blocks_;
    std::unordered_map<block_name, older_block, block_name_hash> in_use_;
    std::unordered_map<block_name, early_free, block_name_hash> early_;
    std::map<std::uint32_t, std::vector<std::uint64_t>> stacks_; // by number in the file
};

}
