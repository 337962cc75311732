// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The design of VulkanSceneGraph's first allocator, rebuilt from its author's account: blocks whose free and used
/// slots are kept in maps outside them. No line of the original was used.

#include <cstddef>
#include <cstdint>
#include <map>

#include <tenure/base/align.hpp>
#include <tenure/platform/page_source.hpp>

#include "bench/experiments/shared/slot_maps.hpp"

namespace tenure::lab {

/// The blocks of one kind of object: the one that had room last, then all that are not full, then a new one.
class mapped_blocks {
public:
    explicit mapped_blocks(std::size_t block_bytes) : block_bytes_(block_bytes) {}
    ~mapped_blocks() {
        for (const auto& [memory, each] : blocks_) page_source::process().release(memory, each.bytes);
    }
    mapped_blocks(const mapped_blocks&) = delete;
    mapped_blocks& operator=(const mapped_blocks&) = delete;

    void* allocate(std::size_t bytes) {
        bytes = align_up(bytes, 8);
        if (with_room_ != blocks_.end()) {
            if (void* const block = take(with_room_, bytes); block != nullptr) return block;
        }
        for (auto at = blocks_.begin(); at != blocks_.end(); ++at) {
            if (void* const block = take(at, bytes); block != nullptr) return block;
        }
        return add_block(bytes) ? take(with_room_, bytes) : nullptr;
    }

    void deallocate(void* block) {
        const auto home = --blocks_.upper_bound(static_cast<char*>(block));
        home->second.slots.release(static_cast<std::uint64_t>(static_cast<char*>(block) - home->first));
    }

    [[nodiscard]] bool owns(const void* block) const {
        auto at = blocks_.upper_bound(static_cast<char*>(const_cast<void*>(block)));
        return at != blocks_.begin() && block < (--at)->first + at->second.bytes;
    }
    [[nodiscard]] std::size_t block_count() const { return blocks_.size(); }

private:
    struct mapped_block {
        slot_maps slots;
        std::size_t bytes = 0;
    };
    using block_map = std::map<char*, mapped_block>;

    void* take(block_map::iterator from, std::size_t bytes) {
        if (from->second.slots.is_full()) return nullptr;
        const std::uint64_t offset = from->second.slots.take(bytes);
        if (offset == slot_maps::none) return nullptr;
        with_room_ = from;
        return from->first + offset;
    }

    bool add_block(std::size_t bytes) {
        const std::size_t size = align_up(bytes > block_bytes_ ? bytes : block_bytes_, 4096);
        auto* const memory = static_cast<char*>(page_source::process().acquire(size, 4096));
        if (memory == nullptr) return false;
        with_room_ = blocks_.try_emplace(memory).first;
        with_room_->second.bytes = size;
        with_room_->second.slots.give(0, size);
        return true;
    }

    std::size_t block_bytes_;
    block_map blocks_;
    block_map::iterator with_room_ = blocks_.end();
};

}
