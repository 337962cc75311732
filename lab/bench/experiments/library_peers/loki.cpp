// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Loki's small objects: a base class whose new and delete go to SmallObjAllocator, with and without its mutex.

#include <loki/SmallObj.h>

#include <array>
#include <mutex>

#include "bench/experiments/library_peers/loki.hpp"
#include "bench/experiments/pools/pools_contestant.hpp"

namespace tenure::lab {

namespace {

/// One lock for all objects. Loki 0.1.7 has such a policy, but it no longer compiles (it returns a value from a void
/// function). Users are meant to write policies, so this is one, over the same mutex.
template<class Host, class Mutex>
class class_level_mutex {
public:
    class Lock {
    public:
        Lock() { mutex.lock(); }
        ~Lock() { mutex.unlock(); }
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;
    };
    using VolatileType = volatile Host;

private:
    static inline constinit std::mutex mutex;
};

/// SmallValueObject and not SmallObject, whose virtual destructor would make every object eight bytes larger.
template<std::size_t Bytes, template<class, class> class Threading>
struct loki_objects {
    using base = Loki::SmallValueObject<Threading>;
    struct object : base, test_object<Bytes> {
        using test_object<Bytes>::test_object;
    };
    static_assert(sizeof(object) == Bytes);
    static constexpr std::size_t max_bytes = LOKI_MAX_SMALL_OBJECT_SIZE;
    static constexpr bool searches_when_freeing = true;

    object* construct(int number) { return new object(number); }
    void destroy(object* made) { delete made; }
    void trim() { base::ObjAllocatorSingleton::ClearExtraMemory(); }
};

template<std::size_t Bytes>
using loki_single = loki_objects<Bytes, Loki::SingleThreaded>;

template<std::size_t Bytes>
struct loki_locked : loki_objects<Bytes, class_level_mutex> {
    static constexpr bool shared = true;
};

constexpr std::array<contestant, 2> in_pools{{
    {.name = loki_rows[0],
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = loki_name,
     .kind = "library",
     .type = type_name<loki_single<64>::base>(),
     .note = "its default, for one thread; above 256 bytes it would be operator new",
     .parts = pool_parts<loki_single>(),
     .run = run_pool<loki_single>,
     .left_out = left_out_of_pool<loki_single>},
    {.name = loki_rows[1],
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = loki_name,
     .kind = "library",
     .type = type_name<loki_locked<64>::base>(),
     .note = "with a class-level mutex, by a policy of ours because Loki's own no longer compiles; above 256 bytes "
             "it would be operator new",
     .parts = pool_parts<loki_locked>(),
     .run = run_pool<loki_locked>,
     .left_out = left_out_of_pool<loki_locked>},
}};

}

library_peer loki_peer() { return {loki_name, loki_package, {}, true, {}}; }

std::span<const contestant> loki_in_pools() { return in_pools; }

}
