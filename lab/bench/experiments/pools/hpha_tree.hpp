// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The upper half of the rebuilt HPHA design: blocks with boundary tags. A free merges neighbours, and a red-black tree
/// finds the smallest block that fits. Memory comes in segments of at least 64 KiB.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/platform/page_source.hpp>

#include "bench/experiments/pools/size_tree.hpp"

namespace tenure::lab {

/// For one thread.
struct no_lock {
    void lock() {}
    void unlock() {}
};

template<class Lock>
class hpha_tree {
public:
    /// Segments lie at multiples of this, so that a masked pointer of one can be read.
    static constexpr std::size_t segment_step = std::size_t{64} << 10;

    hpha_tree() = default;
    ~hpha_tree() {
        while (segments_ != nullptr) release_segment(segments_);
    }
    hpha_tree(const hpha_tree&) = delete;
    hpha_tree& operator=(const hpha_tree&) = delete;

    /// Memory at a multiple of 8; nullptr when out of memory.
    [[nodiscard]] void* allocate(std::size_t bytes) {
        if (bytes > PTRDIFF_MAX) return nullptr;
        const std::size_t needed = std::max(align_up(bytes + sizeof(block_tag), 8), sizeof(free_block));
        const std::scoped_lock<Lock> held(lock_);
        free_block* found = free_.best_fit(needed);
        if (found != nullptr) {
            free_.remove(found);
        } else if (found = add_segment(needed); found == nullptr) {
            return nullptr;
        }
        if (found->bytes - needed >= sizeof(free_block)) split(found, needed);
        found->used = 1;
        return reinterpret_cast<char*>(found) + sizeof(block_tag);
    }

    void deallocate(void* block) {
        auto* freed = reinterpret_cast<block_tag*>(static_cast<char*>(block) - sizeof(block_tag));
        const std::scoped_lock<Lock> held(lock_);
        freed->used = 0;
        if (block_tag* const next = after(freed); next->used == 0) { // the end counts as used
            free_.remove(static_cast<free_block*>(next));
            freed->set_bytes(freed->bytes + next->bytes);
        }
        if (block_tag* const before = freed->before; before != nullptr && before->used == 0) {
            free_.remove(static_cast<free_block*>(before));
            before->set_bytes(before->bytes + freed->bytes);
            freed = before;
        }
        after(freed)->before = freed;
        free_.insert(static_cast<free_block*>(freed));
    }

    /// Returns empty segments to the system.
    void purge() {
        const std::scoped_lock<Lock> held(lock_);
        for (segment* at = segments_; at != nullptr;) {
            segment* const next = at->next;
            block_tag* const first = at->first_block();
            if (first->used == 0 && after(first)->bytes == 0) {
                free_.remove(static_cast<free_block*>(first));
                release_segment(at);
            }
            at = next;
        }
    }

    [[nodiscard]] bool owns(const void* block) const {
        const std::scoped_lock<Lock> held(lock_);
        for (const segment* at = segments_; at != nullptr; at = at->next) {
            const char* const begin = reinterpret_cast<const char*>(at);
            if (block >= begin && block < begin + at->bytes) return true;
        }
        return false;
    }

    /// Whether tags and tree agree.
    [[nodiscard]] bool valid() const {
        std::size_t free_blocks = 0;
        for (const segment* at = segments_; at != nullptr; at = at->next) {
            if (!tags_hold(at, free_blocks)) return false;
        }
        return free_.checked_count() == free_blocks;
    }

    [[nodiscard]] std::size_t system_bytes() const {
        std::size_t bytes = 0;
        for (const segment* at = segments_; at != nullptr; at = at->next) bytes += at->bytes;
        return bytes;
    }

private:
    /// Blocks follow, and a tag with 0 bytes at the end.
    struct segment {
        segment* next;
        segment* previous;
        std::size_t bytes;

        [[nodiscard]] block_tag* first_block() { return reinterpret_cast<block_tag*>(this + 1); }
        [[nodiscard]] const block_tag* first_block() const { return reinterpret_cast<const block_tag*>(this + 1); }
    };

    static block_tag* after(block_tag* at) {
        return reinterpret_cast<block_tag*>(reinterpret_cast<char*>(at) + at->bytes);
    }

    /// Inserts the end of a block as a free block of its own.
    void split(free_block* block, std::size_t kept) {
        auto* const rest = reinterpret_cast<free_block*>(reinterpret_cast<char*>(block) + kept);
        rest->before = block;
        rest->set_bytes(block->bytes - kept);
        rest->used = 0;
        block->set_bytes(kept);
        after(rest)->before = rest;
        free_.insert(rest);
    }

    /// A segment with one free block, which is not in the tree.
    free_block* add_segment(std::size_t needed) {
        const std::size_t bytes = align_up(sizeof(segment) + needed + sizeof(block_tag), segment_step);
        void* const memory = page_source::process().acquire(bytes, segment_step);
        if (memory == nullptr) return nullptr;
        segments_ = new (memory) segment{segments_, nullptr, bytes};
        if (segments_->next != nullptr) segments_->next->previous = segments_;
        block_tag* const first = segments_->first_block();
        first->before = nullptr;
        first->set_bytes(bytes - sizeof(segment) - sizeof(block_tag));
        first->used = 0;
        block_tag* const end = after(first);
        end->before = first;
        end->bytes = 0;
        end->used = 1;
        return static_cast<free_block*>(first);
    }
    void release_segment(segment* at) {
        (at->previous != nullptr ? at->previous->next : segments_) = at->next;
        if (at->next != nullptr) at->next->previous = at->previous;
        page_source::process().release(at, at->bytes);
    }

    /// Counts the free blocks.
    [[nodiscard]] static bool tags_hold(const segment* home, std::size_t& free_blocks) {
        const block_tag* before = nullptr;
        const block_tag* at = home->first_block();
        while (at->bytes != 0) {
            if (at->before != before || (before != nullptr && before->used == 0 && at->used == 0)) return false;
            free_blocks += at->used == 0;
            before = at;
            at = reinterpret_cast<const block_tag*>(reinterpret_cast<const char*>(at) + at->bytes);
        }
        const auto* const end = reinterpret_cast<const char*>(home) + home->bytes - sizeof(block_tag);
        return at->before == before && reinterpret_cast<const char*>(at) == end;
    }

    size_tree free_;
    segment* segments_ = nullptr;
    mutable Lock lock_;
};

}
