// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Limits in scene: a bump per kind, and a bump per kind and size.

#include <algorithm>
#include <array>
#include <string_view>

#include <tenure/platform/page_source.hpp>

#include "bench/experiments/scene/scene_memory.hpp"
#include "bench/experiments/scene/scene_run.hpp"
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

/// Nothing is reused, so each pass has memory of its own.
std::string_view left_out_of_bumps(const parameters& options, std::size_t part) {
    return fits_with_more(options, part, 0, options.size("passes"))
               ? std::string_view{}
               : "it reuses nothing, and its passes together need more memory than is available";
}

constexpr std::array<contestant, 2> rows{{
    {.name = "bump per kind",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<bump_per_kind>(),
     .note = "a limit: one object after the other, and nothing is reused, so its later passes use new memory",
     .parts = scene_part::of_one_thread,
     .run = run_scene<bump_per_kind>,
     .left_out = left_out_of_bumps},
    {.name = "bump per kind and size (huge pages)",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<bump_per_size>(),
     .note = "a limit: the same with each size separate, in pages of 2 MiB, in as few cache lines as possible",
     .parts = scene_part::of_one_thread,
     .run = run_scene<bump_per_size>,
     .left_out = left_out_of_bumps},
}};

}

std::span<const contestant> references_in_scene() { return rows; }

}
