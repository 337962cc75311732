// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Slots of a range, free and used, in maps outside it: the scheme of VulkanSceneGraph's MemorySlots, rebuilt on
/// std::map and std::multimap. A reference of scene and of offsets.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace tenure::lab {

class slot_maps {
public:
    static constexpr std::uint64_t none = UINT64_MAX;

    /// Adds free memory.
    void give(std::uint64_t offset, std::uint64_t size) {
        by_size_.emplace(size, offset);
        by_offset_.emplace(offset, size);
    }

    /// The smallest free slot that fits the size at the alignment, or `none`.
    std::uint64_t take(std::uint64_t size, std::uint64_t alignment = 1) {
        for (auto at = by_size_.lower_bound(size); at != by_size_.end(); ++at) {
            const auto [slot_size, slot] = *at;
            const std::uint64_t begin = (slot + alignment - 1) / alignment * alignment;
            if (begin - slot > slot_size || slot_size - (begin - slot) < size) continue;
            by_size_.erase(at);
            by_offset_.erase(slot);
            if (begin != slot) give(slot, begin - slot);
            if (slot + slot_size != begin + size) give(begin + size, slot + slot_size - begin - size);
            used_.emplace(begin, size);
            return begin;
        }
        return none;
    }

    /// Frees an allocated slot; ignores any other offset.
    void release(std::uint64_t offset) {
        const auto used = used_.find(offset);
        if (used == used_.end()) return;
        std::uint64_t size = used->second;
        used_.erase(used);
        auto after = by_offset_.lower_bound(offset);
        if (after != by_offset_.end() && after->first == offset + size) {
            size += after->second;
            forget_size(after->second, after->first);
            after = by_offset_.erase(after);
        }
        if (after != by_offset_.begin()) {
            const auto before = std::prev(after);
            if (before->first + before->second == offset) {
                offset = before->first;
                size += before->second;
                forget_size(before->second, before->first);
                by_offset_.erase(before);
            }
        }
        give(offset, size);
    }

    [[nodiscard]] bool is_full() const { return by_size_.empty(); }
    [[nodiscard]] std::size_t used_count() const { return used_.size(); }

private:
    void forget_size(std::uint64_t size, std::uint64_t offset) {
        const auto [first, last] = by_size_.equal_range(size);
        for (auto at = first; at != last; ++at) {
            if (at->second != offset) continue;
            by_size_.erase(at);
            return;
        }
    }

    std::multimap<std::uint64_t, std::uint64_t> by_size_;
    std::map<std::uint64_t, std::uint64_t> by_offset_, used_;
};

}
