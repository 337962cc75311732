// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Limits and our rebuilt schemes in scene: a bump per kind, a bump per kind and size, and slots in maps.

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <tenure/platform/page_source.hpp>

#include "bench/experiments/scene/scene_run.hpp"
#include "bench/experiments/shared/slot_maps.hpp"
#include "bench/experiments/shared/type_name.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{32} << 20;

/// Memory that is never reused: the best possible cost of making and traversing when objects are in order.
class bump {
public:
    void* allocate(page_source& from, std::size_t bytes) {
        if (bytes > static_cast<std::size_t>(end_ - next_)) {
            next_ = static_cast<char*>(from.acquire(chunk_bytes, chunk_bytes));
            if (next_ == nullptr) return nullptr;
            end_ = next_ + chunk_bytes;
        }
        void* const block = next_;
        next_ += bytes;
        return block;
    }

private:
    char* next_ = nullptr;
    char* end_ = nullptr;
};

struct bump_per_kind {
    static inline page_source source{page_size::ordinary};
    static inline std::array<bump, kind_count> all;
    static void open() {}
    static block_owner owner() { return {}; }
    static void* allocate(kind which, std::size_t bytes) {
        return all[static_cast<std::size_t>(which)].allocate(source, align_up(bytes, 8));
    }
    static void deallocate(kind, void*, std::size_t) {}
};

/// In pages of 2 MiB, with each size separate; an object crosses a cache line only if it must.
struct bump_per_size {
    static inline page_source source{page_size::huge};
    static inline std::array<std::array<bump, 80>, kind_count> all;
    static void open() {}
    static block_owner owner() { return {}; }
    static void* allocate(kind which, std::size_t bytes) {
        const std::size_t lines = align_up(bytes, 64);
        const std::size_t stride = (lines - bytes) * 8 <= lines ? lines : align_up(bytes, 8);
        std::array<bump, 80>& of_kind = all[static_cast<std::size_t>(which)];
        return of_kind[std::min(stride / 8, of_kind.size() - 1)].allocate(source, stride); // the last: all larger ones
    }
    static void deallocate(kind, void*, std::size_t) {}
};

/// Blocks whose free and used slots are kept in maps outside them, like VulkanSceneGraph's first allocator: first fit
/// among the blocks, newest first.
class mapped_blocks {
public:
    static constexpr std::size_t block_bytes = std::size_t{1} << 20;

    void* allocate(std::size_t bytes) {
        bytes = align_up(bytes, 8);
        for (auto at = blocks_.rbegin(); at != blocks_.rend(); ++at) {
            const std::uint64_t offset = at->second.take(bytes);
            if (offset != slot_maps::none) return at->first + offset;
        }
        const std::size_t size = bytes > block_bytes ? bytes : block_bytes;
        auto* const memory = static_cast<char*>(page_source::process().acquire(size, 4096));
        if (memory == nullptr) return nullptr;
        slot_maps& fresh = blocks_[memory];
        fresh.give(0, size);
        return memory + fresh.take(bytes);
    }
    void deallocate(void* block) {
        const auto home = --blocks_.upper_bound(static_cast<char*>(block));
        home->second.release(static_cast<std::uint64_t>(static_cast<char*>(block) - home->first));
    }

private:
    std::map<char*, slot_maps> blocks_;
};

struct slots_in_maps {
    static inline std::array<mapped_blocks, kind_count> all;
    static void open() {}
    static block_owner owner() { return {}; }
    static void* allocate(kind which, std::size_t bytes) {
        return all[static_cast<std::size_t>(which)].allocate(bytes);
    }
    static void deallocate(kind which, void* block, std::size_t) {
        all[static_cast<std::size_t>(which)].deallocate(block);
    }
};

std::string_view left_out_of_slots(const parameters& options, std::size_t) {
    return options.size("levels") > 10
               ? "it searches its blocks one after the other, which takes minutes with more levels"
               : std::string_view{};
}

constexpr std::array<contestant, 3> rows{{
    {.name = "bump per kind",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<bump_per_kind>(),
     .note = "a limit: one object after the other, and nothing is reused, so its later passes use new memory",
     .parts = scene_part::all,
     .run = run_scene<bump_per_kind>},
    {.name = "bump per kind and size (huge pages)",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<bump_per_size>(),
     .note = "a limit: the same with each size separate, in pages of 2 MiB, in as few cache lines as possible",
     .parts = scene_part::all,
     .run = run_scene<bump_per_size>},
    {.name = "slots in maps",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<slots_in_maps>(),
     .note =
         "the scheme of VulkanSceneGraph's first allocator, rebuilt: blocks of 1 MiB, free and used slots in std::map",
     .parts = scene_part::all,
     .run = run_scene<slots_in_maps>,
     .left_out = left_out_of_slots},
}};

}

std::span<const contestant> references_in_scene() { return rows; }

}
