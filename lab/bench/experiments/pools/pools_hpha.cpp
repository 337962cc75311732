// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The article's third scheme, which no package provides: its design, rebuilt by us and labelled so. A reference, like
/// every design that we rebuild: it takes no part in the rankings.

#include <array>
#include <mutex>
#include <new>
#include <string_view>

#include "bench/experiments/pools/hpha_design.hpp"
#include "bench/experiments/pools/pools_contestant.hpp"

namespace tenure::lab {

namespace {

/// custom_new and custom_delete: a free passes the pointer and nothing else.
template<std::size_t Bytes, class Lock>
struct hpha_objects {
    using object = test_object<Bytes>;
    static constexpr bool shared = !std::is_same_v<Lock, no_lock>;
    static constexpr std::size_t alignment = hpha_design<Lock>::alignment;

    object* construct(int number) {
        void* const block = heap.allocate(sizeof(object));
        return block == nullptr ? nullptr : new (block) object(number);
    }
    void destroy(object* made) { heap.deallocate(made); }
    void trim() { heap.purge(); }
    static constexpr std::string_view query = "its pages and segments";
    [[nodiscard]] bool owns(const void* block) const { return heap.owns(block); }

    hpha_design<Lock> heap;
};

template<std::size_t Bytes>
using hpha_one_thread = hpha_objects<Bytes, no_lock>;
template<std::size_t Bytes>
using hpha_locked = hpha_objects<Bytes, std::mutex>;

constexpr std::array<contestant, 2> rows{{
    {.name = "HPHA design (rebuilt)",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<hpha_design<no_lock>>(),
     .note = "not the original: we rebuilt it from published descriptions. Buckets up to 256 bytes on pages of 64 KiB, "
             "best fit in a red-black tree above; for one thread",
     .parts = pool_parts<hpha_one_thread>(),
     .run = run_pool<hpha_one_thread>},
    {.name = "HPHA design (rebuilt; locked)",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<hpha_design<std::mutex>>(),
     .note = "rebuilt like the row above, with a mutex for each bucket and one for the tree",
     .parts = pool_parts<hpha_locked>(),
     .run = run_pool<hpha_locked>},
}};

}

std::span<const contestant> hpha_in_pools() { return rows; }

}
