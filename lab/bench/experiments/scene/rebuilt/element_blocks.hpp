// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The design of vsg::IntrusiveAllocator, rebuilt from its author's account of it. No line of the original was used.
///
/// A block is an array of elements of 4 bytes. A slot is an element with the distances to the slots before and after it
/// and a status bit, then the object; it begins so that the object is at a multiple of 8. The first two elements of a
/// free slot link it to the block's list of free slots. An allocation walks that list and splits the first slot that
/// fits. A free merges the slot with free neighbours and puts it in front. What does not fit in the distances of 15
/// bits comes from malloc.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include <tenure/base/align.hpp>
#include <tenure/platform/page_source.hpp>

namespace tenure::lab {

class element_block {
public:
    static constexpr std::uint32_t max_slot = (1u << 15) - 2; ///< elements; even, because slots are aligned to 8 bytes
    static constexpr std::size_t max_bytes = (max_slot - 1) * std::size_t{4};

    /// Requires  `memory` has room for `bytes`, a multiple of 8.
    element_block(void* memory, std::size_t bytes)
        : all_(static_cast<element*>(memory)), end_(static_cast<std::uint32_t>(bytes / 4)) {
        end_ -= 1; // slots begin at an odd element and are even
        while ((end_ - first) % max_slot != 0 && (end_ - first) % max_slot < min_slot) end_ -= 2;
        std::uint32_t before = 0;
        std::uint32_t* link = &first_free_;
        for (std::uint32_t at = first, last = 0; at < end_; at += before) {
            const std::uint32_t elements = std::min(end_ - at, max_slot);
            all_[at].slot = {before & link_mask, elements & link_mask, 0};
            before = elements;
            all_[at + 1].index = last;
            all_[at + 2].index = 0;
            *link = at;
            link = &all_[at + 2].index;
            last = at;
        }
    }
    element_block(const element_block&) = delete;
    element_block& operator=(const element_block&) = delete;

    /// nullptr when no free slot is large enough.
    void* allocate(std::size_t bytes) {
        const auto needed =
            static_cast<std::uint32_t>(std::max(align_up(align_up(bytes, 4) / 4 + 1, 2), std::size_t{min_slot}));
        for (std::uint32_t at = first_free_; at != 0; at = next_free(at)) {
            const std::uint32_t elements = all_[at].slot.next;
            if (elements < needed) continue;
            if (elements - needed >= min_slot) {
                split(at, needed);
            } else {
                unlink(at);
            }
            all_[at].slot.used = 1;
            return &all_[at + 1];
        }
        return nullptr;
    }

    void deallocate(void* block) {
        auto at = static_cast<std::uint32_t>(static_cast<element*>(block) - all_) - 1;
        if (all_[at].slot.used == 0) std::abort(); // a second free, which the original finds too
        all_[at].slot.used = 0;
        if (const std::uint32_t after = at + all_[at].slot.next; after < end_ && may_merge(at, after)) {
            unlink(after);
            merge(at, after);
        }
        if (const std::uint32_t before = at - all_[at].slot.previous; before != at && may_merge(before, at)) {
            merge(before, at); // the one in front is in the list already
            return;
        }
        push_front(at);
    }

    [[nodiscard]] bool holds(const void* block) const { return block >= all_ && block < all_ + end_; }
    [[nodiscard]] void* memory() const { return all_; }

    /// Whether the distances meet and the list has every free slot.
    [[nodiscard]] bool valid() const {
        std::uint32_t before = 0, free_slots = 0, listed = 0, at = first;
        for (; at < end_; at += before) {
            const slot_tag& here = all_[at].slot;
            if (here.previous != before || here.next < min_slot || here.next % 2 != 0) return false;
            free_slots += here.used == 0;
            before = here.next;
        }
        std::uint32_t last = 0;
        for (std::uint32_t each = first_free_; each != 0 && listed <= free_slots; each = next_free(each)) {
            if (all_[each].slot.used != 0 || all_[each + 1].index != last) return false;
            last = each;
            ++listed;
        }
        return at == end_ && listed == free_slots;
    }

private:
    static constexpr std::uint32_t link_mask = (1u << 15) - 1;
    static constexpr std::uint32_t first = 1;    ///< 0 stands for no slot
    static constexpr std::uint32_t min_slot = 4; ///< the links of a free slot, rounded to 8 bytes

    struct slot_tag {
        std::uint32_t previous : 15; ///< elements back to the slot before; 0 at the first
        std::uint32_t next : 15;     ///< elements of this slot
        std::uint32_t used : 2;
    };
    union element {
        std::uint32_t index;
        slot_tag slot;
    };
    static_assert(sizeof(element) == 4);

    [[nodiscard]] std::uint32_t next_free(std::uint32_t at) const { return all_[at + 2].index; }

    [[nodiscard]] std::uint32_t length(std::uint32_t at) const { return all_[at].slot.next; }

    void set_length(std::uint32_t at, std::uint32_t elements) {
        all_[at].slot.next = elements & link_mask;
        if (at + elements < end_) all_[at + elements].slot.previous = elements & link_mask;
    }

    /// The rest takes the place of the whole in the list.
    void split(std::uint32_t at, std::uint32_t kept) {
        const std::uint32_t rest = at + kept, elements = all_[at].slot.next - kept;
        const std::uint32_t before = all_[at + 1].index, after = all_[at + 2].index;
        all_[rest].slot = {0, 0, 0};
        set_length(at, kept);
        set_length(rest, elements);
        all_[rest + 1].index = before;
        all_[rest + 2].index = after;
        (before != 0 ? all_[before + 2].index : first_free_) = rest;
        if (after != 0) all_[after + 1].index = rest;
    }

    [[nodiscard]] bool may_merge(std::uint32_t at, std::uint32_t after) const {
        const bool free = all_[at].slot.used == 0 && all_[after].slot.used == 0;
        return free && length(at) + length(after) <= max_slot;
    }
    void merge(std::uint32_t at, std::uint32_t after) { set_length(at, length(at) + length(after)); }

    void unlink(std::uint32_t at) {
        const std::uint32_t before = all_[at + 1].index, after = all_[at + 2].index;
        (before != 0 ? all_[before + 2].index : first_free_) = after;
        if (after != 0) all_[after + 1].index = before;
    }
    void push_front(std::uint32_t at) {
        all_[at + 1].index = 0;
        all_[at + 2].index = first_free_;
        if (first_free_ != 0) all_[first_free_ + 1].index = at;
        first_free_ = at;
    }

    element* all_;
    std::uint32_t end_;
    std::uint32_t first_free_ = 0;
};

/// The blocks of one kind of object: the one that had room last, then all in order, then a new one.
class element_blocks {
public:
    explicit element_blocks(std::size_t block_bytes) : block_bytes_(block_bytes) {}
    ~element_blocks() {
        for (const auto& [end, block] : by_end_) page_source::process().release(block->memory(), block_bytes_);
        for (void* each : oversized_) std::free(each);
    }
    element_blocks(const element_blocks&) = delete;
    element_blocks& operator=(const element_blocks&) = delete;

    void* allocate(std::size_t bytes) {
        if (bytes > element_block::max_bytes) return from_malloc(bytes);
        if (void* const block = with_room_ != nullptr ? with_room_->allocate(bytes) : nullptr; block != nullptr)
            return block;
        for (element_block* each : in_order_) {
            if (void* const block = each->allocate(bytes); block != nullptr) {
                with_room_ = each;
                return block;
            }
        }
        return add_block() ? with_room_->allocate(bytes) : nullptr;
    }

    void deallocate(void* block) {
        if (element_block* const home = home_of(block); home != nullptr) return home->deallocate(block);
        oversized_.erase(std::find(oversized_.begin(), oversized_.end(), block));
        std::free(block);
    }

    [[nodiscard]] bool owns(const void* block) const {
        return home_of(block) != nullptr || std::find(oversized_.begin(), oversized_.end(), block) != oversized_.end();
    }
    [[nodiscard]] bool valid() const {
        return std::all_of(in_order_.begin(), in_order_.end(), [](const element_block* each) { return each->valid(); });
    }
    [[nodiscard]] std::size_t block_count() const { return in_order_.size(); }

private:
    void* from_malloc(std::size_t bytes) {
        void* const block = std::malloc(bytes);
        if (block != nullptr) oversized_.push_back(block);
        return block;
    }

    bool add_block() {
        auto* const memory = static_cast<char*>(page_source::process().acquire(block_bytes_, 4096));
        if (memory == nullptr) return false;
        auto& added = by_end_[memory + block_bytes_];
        added = std::make_unique<element_block>(memory, block_bytes_);
        in_order_.push_back(added.get());
        with_room_ = added.get();
        return true;
    }

    [[nodiscard]] element_block* home_of(const void* block) const {
        const auto home = by_end_.upper_bound(static_cast<const char*>(block));
        return home != by_end_.end() && home->second->holds(block) ? home->second.get() : nullptr;
    }

    std::size_t block_bytes_;
    std::map<const char*, std::unique_ptr<element_block>> by_end_; ///< a free finds its block here
    std::vector<element_block*> in_order_;
    element_block* with_room_ = nullptr;
    std::vector<void*> oversized_;
};

}
