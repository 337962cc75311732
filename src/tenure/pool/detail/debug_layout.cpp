// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/detail/debug_layout.hpp>

#include <array>

#include <tenure/engine/growing_range.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/detail/handle_slots.hpp>
#include <tenure/pool/detail/pool_cache.hpp>
#include <tenure/pool/detail/segment.hpp>
#include <tenure/pool/detail/shared_pool_core.hpp>
#include <tenure/pool/handle_pool.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>
#include <tenure/pool/shared_pool.hpp>

// Classes with references or several access levels: the compilers support it, and the standard leaves it to them.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace tenure::inline TENURE_ABI::detail {

using debug_layout::fact_of;

/// Names as in heap/detail/debug_layout.cpp. Every pool<T> begins with its block_pool, every shared_pool<T> with its
/// shared_block_pool, and every handle_pool<T> with its handle_slots: the member fills the pool.
struct pool_layout {
    static_assert(sizeof(pool<int>) == sizeof(block_pool));
    static_assert(sizeof(shared_pool<int>) == sizeof(shared_block_pool));
    static_assert(sizeof(handle_pool<int>) == sizeof(handle_slots));

    static constexpr std::array facts{
        fact_of("pool.bytes", sizeof(block_pool)),
        fact_of("pool.last_freed", offsetof(block_pool, last_freed_)),
        fact_of("number.never_a_block", block_pool::never_a_block),
        fact_of("pool.run_begin", offsetof(block_pool, run_begin_)),
        fact_of("pool.run_end", offsetof(block_pool, run_end_)),
        fact_of("pool.free_in_bits", offsetof(block_pool, free_in_bits_)),
        fact_of("pool.layout", offsetof(block_pool, layout_)),
        fact_of("pool.first", offsetof(block_pool, first_)),
        fact_of("pool.segment_count", offsetof(block_pool, segment_count_)),
        fact_of("pool.allocated", offsetof(block_pool, allocated_)),
        fact_of("pool.peak_allocated", offsetof(block_pool, peak_allocated_)),
        fact_of("pool.passthrough", offsetof(block_pool, passthrough_)),
        fact_of("pool.passthrough_count", offsetof(block_pool, passthrough_blocks_) + // its own list
                                              offsetof(passthrough_blocks, count_)),
        fact_of("pool.block_bytes", offsetof(block_pool, block_bytes_)),
        fact_of("layout.segment_bytes", offsetof(segment_layout, segment_bytes)),
        fact_of("layout.stride_bytes", offsetof(segment_layout, stride_bytes)),
        fact_of("layout.blocks_offset", offsetof(segment_layout, blocks_offset)),
        fact_of("layout.capacity", offsetof(segment_layout, capacity)),
        fact_of("layout.level0_offset", offsetof(segment_layout, level0_offset)),
        fact_of("segment.next", offsetof(segment, next)),
        fact_of("segment.groups_used", offsetof(segment, groups_used)),
        fact_of("shared.core", offsetof(shared_block_pool, core_)),
        fact_of("shared.block_bytes", offsetof(shared_block_pool, block_bytes_)),
        fact_of("core.blocks", offsetof(shared_pool_core, blocks_)),
        fact_of("core.caches", offsetof(shared_pool_core, caches_) + offsetof(thread_parts<pool_cache>, first_)),
        fact_of("core.ownerless", offsetof(shared_pool_core, caches_) + offsetof(thread_parts<pool_cache>, ownerless_)),
        fact_of("core.stash_count", offsetof(shared_pool_core, stash_count_)),
        fact_of("core.stash", offsetof(shared_pool_core, stash_)),
        fact_of("limit.stash", shared_pool_core::stash_capacity),
        fact_of("cache.count", offsetof(pool_cache, count)),
        fact_of("cache.next", offsetof(pool_cache, next)),
        fact_of("cache.blocks", offsetof(pool_cache, blocks)),
        fact_of("limit.cached", pool_cache::max_blocks),
        fact_of("slots.groups", offsetof(handle_slots, groups_)),
        fact_of("slots.begin", offsetof(handle_slots, objects_) + offsetof(growing_range, begin_)),
        fact_of("slots.end", offsetof(handle_slots, end_)),
        fact_of("slots.live_count", offsetof(handle_slots, live_count_)),
        fact_of("slots.stride", offsetof(handle_slots, stride_)),
        fact_of("slots.guard_bytes", offsetof(handle_slots, guard_bytes_)),
        fact_of("group.bytes", sizeof(slot_group)),
        fact_of("group.live", offsetof(slot_group, live)),
    };
};

}

TENURE_ALIAS(const tenure::detail::pool_layout_object, tenure_debug_pool_layout_self, tenure_debug_pool_layout);

constinit const tenure::detail::pool_layout_object tenure_debug_pool_layout{
    tenure::detail::pool_layout_object::head_of(tenure::debug_layout::pool_magic, &tenure_debug_pool_layout_self,
                                                tenure::checks::level),
    {},
    {},
    tenure::detail::pool_layout::facts};
