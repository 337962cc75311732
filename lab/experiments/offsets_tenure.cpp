// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// offset_allocator, and slots in maps beside it, in offsets.

#include <iterator>
#include <map>
#include <string_view>

#include <tenure/offset/offset_allocator.hpp>

#include "experiments/offsets_workload.hpp"
#include "experiments/type_name.hpp"

namespace tenure::lab {

namespace {

class our_offsets {
public:
    using range = offset_range;
    explicit our_offsets(std::uint64_t capacity) : allocator_(capacity) {}
    range allocate(std::uint64_t size, std::uint64_t alignment) { return allocator_.allocate(size, alignment); }
    void deallocate(range which) { allocator_.deallocate(which); }
    static std::uint64_t offset_of(range which) { return which ? which.offset : UINT64_MAX; }
    static constexpr std::string_view query = "offset_allocator::usage().range_count";
    [[nodiscard]] std::size_t alive() const { return allocator_.usage().range_count; }

private:
    offset_allocator allocator_;
};

/// After VulkanSceneGraph's MemorySlots: free slots by size and by offset, used ones by offset, all in maps.
class mapped_offsets {
public:
    struct range {
        std::uint64_t offset;
    };
    explicit mapped_offsets(std::uint64_t capacity) { give(0, capacity); }

    range allocate(std::uint64_t size, std::uint64_t alignment) {
        for (auto at = by_size_.lower_bound(size); at != by_size_.end(); ++at) {
            auto const [slot_size, slot] = *at;
            std::uint64_t const begin = (slot + alignment - 1) / alignment * alignment;
            if (begin - slot > slot_size || slot_size - (begin - slot) < size) continue;
            by_size_.erase(at);
            by_offset_.erase(slot);
            if (begin != slot) give(slot, begin - slot);
            if (slot + slot_size != begin + size) give(begin + size, slot + slot_size - begin - size);
            used_.emplace(begin, size);
            return {begin};
        }
        return {UINT64_MAX};
    }
    void deallocate(range which) {
        auto const used = used_.find(which.offset);
        if (used == used_.end()) return; // it was refused
        auto [offset, size] = *used;
        used_.erase(used);
        auto after = by_offset_.lower_bound(offset);
        if (after != by_offset_.end() && after->first == offset + size) {
            size += after->second;
            forget_size(after->second, after->first);
            after = by_offset_.erase(after);
        }
        std::uint64_t begin = offset;
        if (after != by_offset_.begin()) {
            auto const before = std::prev(after);
            if (before->first + before->second == offset) {
                begin = before->first;
                size += before->second;
                forget_size(before->second, before->first);
                by_offset_.erase(before);
            }
        }
        give(begin, size);
    }
    static std::uint64_t offset_of(range which) { return which.offset; }
    static constexpr std::string_view query = "its map of used slots";
    [[nodiscard]] std::size_t alive() const { return used_.size(); }

private:
    void give(std::uint64_t offset, std::uint64_t size) {
        by_size_.emplace(size, offset);
        by_offset_.emplace(offset, size);
    }
    void forget_size(std::uint64_t size, std::uint64_t offset) {
        auto const [first, last] = by_size_.equal_range(size);
        for (auto at = first; at != last; ++at) {
            if (at->second != offset) continue;
            by_size_.erase(at);
            return;
        }
    }
    std::multimap<std::uint64_t, std::uint64_t> by_size_;
    std::map<std::uint64_t, std::uint64_t> by_offset_, used_;
};

constexpr std::uint64_t all_parts_of_it = 0b111;

constexpr std::array<contestant, 1> ours{{
    {.name = "tenure offset_allocator",
     .how = route::inlined,
     .kind = "library",
     .type = type_name<our_offsets>(),
     .note = "offset_allocator: 64 bits, any alignment, exact coalescing",
     .parts = all_parts_of_it,
     .run = run_offsets<our_offsets>},
}};

std::string_view left_out_of_maps(const parameters&, std::size_t part) {
    if (offsets_live[part] <= 100'000) return {};
    return "an operation takes it so many microseconds that a million ranges would take minutes";
}

constexpr std::array<contestant, 1> references{{
    {.name = "slots in maps",
     .how = route::inlined,
     .kind = "reference (ours)",
     .type = type_name<mapped_offsets>(),
     .note = "the scheme of VulkanSceneGraph's MemorySlots, rebuilt on std::map and std::multimap",
     .parts = all_parts_of_it,
     .run = run_offsets<mapped_offsets>,
     .left_out = left_out_of_maps},
}};

}

std::span<const contestant> tenure_in_offsets() { return ours; }

std::span<const contestant> references_in_offsets() { return references; }

}
