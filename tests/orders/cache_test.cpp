// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Protocols of a few lines around thread caches, as copies that are compared with their sources: the stash of shared
// pools, the list of a heap's shards, and trims that threads follow at their next slow call.

#include <gtest/gtest.h>

#define TENURE_EXPLORED explored_cache
#include "orders/explored.hpp"
#include "orders/explored_lock.hpp"
#include "orders/needs.hpp"
#include "orders/sources.hpp"

namespace {

using orders::run;
using enum std::memory_order;
using tenure::platform::lock_guard;
using tenure::platform::mutex;

// src/tenure/pool/detail/shared_pool_core.cpp: blocks that one thread flushes and another refills with.
struct pool_state {
    mutex lock;
    orders::plain<int>* stash[2]{}; ///< under the lock, as what follows
    std::size_t stash_count = 0;
    orders::atomic<std::uint32_t> cached{0}; ///< pool_cache::count of the first thread
    orders::plain<int> blocks[2];
};

void pass_through_stash(run& r) {
    auto& s = r.make<pool_state>();
    r.thread([&s] {
        for (auto& each : s.blocks) {
            each.set(1, "a block of a pool");
            s.cached.store(s.cached.load(relaxed) + 1, relaxed); // push()
        }
        const lock_guard lock(s.lock); // flush()
        s.cached.store(0, relaxed);
        for (auto& each : s.blocks) s.stash[s.stash_count++] = &each;
    });
    r.thread([&s] {
        orders::plain<int>* block = nullptr;
        {
            const lock_guard lock(s.lock); // refill()
            if (s.stash_count != 0) block = s.stash[--s.stash_count];
        }
        if (block != nullptr) block->set(2, "a block of a pool");
    });
    r.thread([&s] { // size_under_lock()
        const lock_guard lock(s.lock);
        orders::require(s.cached.load(relaxed) <= 2, "a count that never was");
    });
}

// small_blocks::add_shard() and is_any_lock(): the list is walked without the lock.
struct shard {
    mutex lock;
    orders::plain<shard*> next;
};
struct shards_state {
    shard first;
    orders::atomic<shard*> shards{&first};
};

void walk_shards(run& r) {
    auto& s = r.make<shards_state>();
    r.thread([&s] {
        for (int each = 0; each < 2; ++each) {
            auto* const added = ::new (orders::map(sizeof(shard), alignof(shard))) shard;
            added->next.set(s.shards.load(relaxed), "the next shard");
            s.shards.store(added, release);
        }
    });
    r.thread([&s] {
        for (const shard* each = s.shards.load(acquire); each != nullptr; each = each->next.get("the next shard"))
            orders::require(each->lock.is_free(), "a lock that nobody took");
    });
}

// small_blocks::count_allocations() and follow_trims(): who sees that there was a trim follows what was set before.
// So does open_cache(), whose new cache takes the number of trims over.
struct trims_state {
    orders::atomic<std::uint32_t> counted_in{0}, trims{0};
};

void follow_trims(run& r) {
    auto& s = r.make<trims_state>();
    r.thread([&s] {
        s.counted_in.store(1, release);
        s.trims.fetch_add(1, release);
    });
    r.thread([&s] {
        if (s.trims.load(acquire) == 0) return;
        orders::require(s.counted_in.load(acquire) == 1, "a thread that follows a trim does not count");
    });
}

TEST(cache_orders, every_order_has_its_use) {
    orders::expect_needs({pass_through_stash, walk_shards, follow_trims},
                         {
                             "mutex::try_lock compare_exchange: acquire -> relaxed",
                             "mutex::unlock exchange: release -> relaxed",
                             "{anonymous}::follow_trims fetch_add: release -> relaxed",
                             "{anonymous}::follow_trims load: acquire -> relaxed",
                             "{anonymous}::walk_shards load 2: acquire -> relaxed",
                             "{anonymous}::walk_shards store: release -> relaxed",
                         },
                         {
                             // The trim orders it for threads that follow; the others ask for a number alone.
                             "{anonymous}::follow_trims load 2: acquire -> relaxed",
                             "{anonymous}::follow_trims store: release -> relaxed",
                         });
}

TEST(cache_orders, the_copies_are_those_of_the_sources) {
    orders::expect_in_source(
        "pool/detail/shared_pool_core.cpp",
        {"cache->count.store(count + 1, std::memory_order_relaxed);", "cache.count.load(std::memory_order_relaxed)"});
    orders::expect_in_source("heap/detail/small/small_blocks.cpp",
                             {"std::atomic_ref(shards_).store(shard, std::memory_order_release);",
                              "std::atomic_ref(const_cast<heap_shard*&>(shards_)).load(std::memory_order_acquire)",
                              "cache->trims_seen = trims_.load(std::memory_order_acquire);",
                              "const std::uint32_t trims = trims_.load(std::memory_order_acquire);"});
    orders::expect_in_source("heap/detail/small/small_blocks.hpp", {"trims_.fetch_add(1, memory_order::release)"});
    orders::expect_in_source("heap/detail/small/counted_blocks.cpp",
                             {"counted_in_.store(are_counted ? profiles_ : 0, std::memory_order_release);",
                              "pages_.count_allocations(are_counted); start_trim();"});
    orders::expect_in_source("heap/detail/small/heap_pages.hpp", {"counted_in_.load(memory_order::acquire)"});
}

}
