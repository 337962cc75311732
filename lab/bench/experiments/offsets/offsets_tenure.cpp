// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// offset_allocator and the schemes of two other allocators, in offsets.

#include <string_view>

#include <tenure/offset/offset_allocator.hpp>

#include "bench/experiments/offsets/offset_nodes.hpp"
#include "bench/experiments/offsets/offsets_workload.hpp"
#include "bench/experiments/shared/slot_maps.hpp"
#include "bench/experiments/shared/type_name.hpp"

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

class mapped_offsets {
public:
    struct range {
        std::uint64_t offset;
    };
    explicit mapped_offsets(std::uint64_t capacity) { slots_.give(0, capacity); }
    range allocate(std::uint64_t size, std::uint64_t alignment) { return {slots_.take(size, alignment)}; }
    void deallocate(range which) { slots_.release(which.offset); }
    static std::uint64_t offset_of(range which) { return which.offset; }
    static constexpr std::string_view query = "its map of used slots";
    [[nodiscard]] std::size_t alive() const { return slots_.used_count(); }

private:
    slot_maps slots_;
};
static_assert(slot_maps::none == UINT64_MAX); // the value of offset_of() for a failed allocation

/// Counts in units of 256 bytes, as its users do, which gives it 1 TiB of offsets aligned to 256.
class noded_offsets {
public:
    static constexpr std::uint64_t unit = 256;

    using range = offset_nodes::range;
    explicit noded_offsets(std::uint64_t capacity)
        : nodes_(static_cast<std::uint32_t>(capacity / unit), nodes_for(capacity)) {}
    range allocate(std::uint64_t size, std::uint64_t) {
        return nodes_.allocate(static_cast<std::uint32_t>((size + unit - 1) / unit));
    }
    void deallocate(range which) { nodes_.release(which); }
    static std::uint64_t offset_of(range which) {
        return which.node == offset_nodes::none ? UINT64_MAX : which.offset * unit;
    }
    static constexpr std::string_view query = "its count of used nodes";
    [[nodiscard]] std::size_t alive() const { return nodes_.used_count(); }

private:
    /// The maximum number of ranges, which it must be told: twice the live ones, and the first. See run_offsets().
    static std::uint32_t nodes_for(std::uint64_t capacity) {
        return static_cast<std::uint32_t>(2 * capacity / offsets_bytes_for_each + 2);
    }

    offset_nodes nodes_;
};

constexpr std::array<contestant, 1> ours{{
    {.name = "tenure offset_allocator",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "library",
     .type = type_name<our_offsets>(),
     .note = "offset_allocator: 64 bits, any alignment, exact coalescing",
     .parts = offsets_all_parts,
     .run = run_offsets<our_offsets>},
}};

std::string_view left_out_of_maps(const parameters&, std::size_t part) {
    if (offsets_live[part] <= 10'000) return {};
    return "its operations are so slow that 100 000 ranges take more than ten seconds, and a million take minutes";
}

std::string_view left_out_of_nodes(const parameters& options, std::size_t) {
    if (static_cast<std::uint64_t>(options["alignment"]) <= noded_offsets::unit) return {};
    return "it does not support alignment; here it counts in units of 256 bytes";
}

constexpr std::array<contestant, 2> references{{
    {.name = "nodes of 32 bits",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<noded_offsets>(),
     .note = "the scheme of OffsetAllocator, rebuilt: sizes rounded to units of 256 bytes, no larger alignment",
     .parts = offsets_all_parts,
     .run = run_offsets<noded_offsets>,
     .left_out = left_out_of_nodes},
    {.name = "slots in maps",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<mapped_offsets>(),
     .note = "the scheme of VulkanSceneGraph's MemorySlots, rebuilt on std::map and std::multimap",
     .parts = offsets_all_parts,
     .run = run_offsets<mapped_offsets>,
     .left_out = left_out_of_maps},
}};

}

std::span<const contestant> tenure_in_offsets() { return ours; }

std::span<const contestant> references_in_offsets() { return references; }

}
