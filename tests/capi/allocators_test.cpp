// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/options.hpp>
#include <tenure/tenure.h>
#include <tenure/tenure_quick.h>

#include "capi/fixture.hpp"
#include "support/reports.hpp"

namespace {

using capi::counted_memory;
using capi::is_passthrough;

/// Allocates and frees many, writes them all, and says whether none overlapped.
void exercise(const std::function<void*(std::size_t)>& allocate, const std::function<void(void*, std::size_t)>& free,
              std::size_t max_bytes = 300) {
    std::vector<std::pair<unsigned char*, std::size_t>> blocks;
    for (std::size_t count = 0; count < 500; ++count) {
        const std::size_t bytes = 1 + count * 7 % max_bytes;
        auto* const block = static_cast<unsigned char*>(allocate(bytes));
        ASSERT_NE(block, nullptr);
        std::memset(block, static_cast<int>(count & 0xFF), bytes);
        blocks.emplace_back(block, bytes);
    }
    for (std::size_t count = 0; count < blocks.size(); ++count) {
        const auto [block, bytes] = blocks[count];
        for (std::size_t at = 0; at < bytes; ++at) ASSERT_EQ(block[at], count & 0xFF);
        free(block, bytes);
    }
}

[[nodiscard]] tn_allocator_stats no_stats() {
    tn_allocator_stats stats{};
    stats.size = sizeof stats;
    return stats;
}

TEST(capi_heap, serves_from_the_callers_source_and_gives_everything_back) {
    counted_memory memory;
    const tn_block_source source = memory.source();
    tn_heap_options options{};
    options.size = sizeof options;
    std::string name = "of a test";
    options.name = {name.data(), name.size()};
    options.source = &source;
    tn_heap* const heap = tn_heap_create(&options);
    ASSERT_NE(heap, nullptr);
    name.assign(name.size(), '?'); // it was copied
    exercise([&](std::size_t bytes) { return tn_heap_allocate(heap, bytes, 0); },
             [&](void* block, std::size_t) { tn_heap_deallocate(heap, block); });
    void* block = tn_heap_allocate_zeroed(heap, 100, 64);
    EXPECT_EQ(tenure::address_of(block) % 64, 0u);
    block = tn_heap_reallocate(heap, block, 5000, 64);
    EXPECT_GE(tn_heap_usable_size(heap, block), 5000u);
    tn_allocator_stats stats = no_stats();
    tn_heap_get_stats(heap, &stats);
    if (!is_passthrough()) {
        EXPECT_EQ(tn_heap_owns(heap, block), 1u);
        EXPECT_EQ(stats.live_count, 1u);
        EXPECT_GT(memory.live, 0u);
    }
    tn_heap_clear(heap);
    static_cast<void>(tn_heap_trim(heap));
    tn_heap_destroy(heap);
    EXPECT_EQ(memory.live, 0u);
    tn_heap_destroy(nullptr);
}

TEST(capi_heap, options_left_out_are_the_defaults_and_half_a_source_is_refused) {
    const support::heard_reports heard; // checked builds report what is refused
    tn_heap* const plain = tn_heap_create(nullptr);
    ASSERT_NE(plain, nullptr);
    EXPECT_NE(tn_heap_allocate(plain, 10, 0), nullptr);
    EXPECT_EQ(tn_heap_allocate(plain, 10, 3), nullptr);
    tn_heap_destroy(plain);
    counted_memory memory;
    tn_block_source half = memory.source();
    half.release = nullptr;
    tn_heap_options options{};
    options.size = sizeof options;
    options.source = &half;
    EXPECT_EQ(tn_heap_create(&options), nullptr);
    EXPECT_EQ(tn_arena_create(0, &half), nullptr);
    EXPECT_EQ(tn_pool_create(8, 8, &half), nullptr);
}

TEST(capi_heap, a_limit_is_a_limit) {
    if (is_passthrough()) GTEST_SKIP() << "malloc has none";
    tn_heap_options options{};
    options.size = sizeof options;
    options.limit_bytes = std::uint64_t{1} << 20;
    tn_heap* const heap = tn_heap_create(&options);
    ASSERT_NE(heap, nullptr);
    EXPECT_EQ(tn_heap_allocate(heap, std::size_t{2} << 20, 0), nullptr);
    tn_heap_destroy(heap);
}

TEST(capi_arena, its_begin_is_the_cursor_and_the_limit) {
    tn_arena* const arena = tn_arena_create(0, nullptr);
    ASSERT_NE(arena, nullptr);
    void* const first = tn_arena_allocate(arena, 10, 1);
    ASSERT_NE(first, nullptr);
    if (tenure::checks::caller || is_passthrough()) {
        EXPECT_EQ(arena->cursor, 0u);
        EXPECT_EQ(arena->limit, 0u);
        tn_arena_destroy(arena);
        GTEST_SKIP() << "callers use the calls";
    }
    EXPECT_EQ(arena->cursor, tenure::address_of(first) + 10);
    EXPECT_GT(arena->limit, arena->cursor);
    arena->cursor += 100; // what a caller allocates by itself
    EXPECT_EQ(tenure::address_of(tn_arena_allocate(arena, 5, 1)), tenure::address_of(first) + 110);
    tn_arena_destroy(arena);
}

TEST(capi_arena, marks_rewinds_clears_and_refuses) {
    const support::heard_reports heard; // checked builds report what is refused
    counted_memory memory;
    const tn_block_source source = memory.source();
    tn_arena* const arena = tn_arena_create(4096, &source);
    ASSERT_NE(arena, nullptr);
    void* const kept = tn_arena_allocate(arena, 10, 0);
    tn_arena_marker marker{};
    tn_arena_mark(arena, &marker);
    void* const after = tn_arena_allocate(arena, 10, 0);
    ASSERT_NE(tn_arena_allocate(arena, 100'000, 0), nullptr);
    tn_arena_rewind(arena, &marker);
    if (!is_passthrough()) {
        EXPECT_EQ(tn_arena_allocate(arena, 10, 0), after);
    }
    EXPECT_NE(kept, nullptr);
    EXPECT_EQ(tn_arena_allocate(arena, 10, 3), nullptr);
    void* const newest = tn_arena_allocate(arena, 40, 1);
    tn_arena_deallocate(arena, newest, 40);
    if (!is_passthrough()) {
        EXPECT_EQ(tn_arena_allocate(arena, 40, 1), newest);
    }
    tn_allocator_stats stats = no_stats();
    tn_arena_get_stats(arena, &stats);
    EXPECT_GT(stats.live_bytes, 0u);
    tn_arena_clear(arena);
    static_cast<void>(tn_arena_trim(arena));
    memory.refuses_after = memory.requests;
    if (!is_passthrough()) {
        EXPECT_EQ(tn_arena_allocate(arena, 100'000, 0), nullptr);
    }
    tn_arena_destroy(arena);
    EXPECT_EQ(memory.live, 0u);
    tn_arena_destroy(nullptr);
}

TEST(capi_pools, serve_one_size_and_refuse_what_is_none) {
    const support::heard_reports heard; // checked builds report what is refused
    counted_memory memory;
    const tn_block_source source = memory.source();
    tn_pool* const pool = tn_pool_create(24, 8, &source);
    ASSERT_NE(pool, nullptr);
    exercise([&](std::size_t) { return tn_pool_allocate(pool); },
             [&](void* block, std::size_t) { tn_pool_deallocate(pool, block); }, 24);
    static_cast<void>(tn_pool_allocate(pool));
    EXPECT_EQ(tn_pool_size(pool), 1u);
    tn_allocator_stats stats = no_stats();
    tn_pool_get_stats(pool, &stats);
    EXPECT_EQ(stats.live_count, 1u);
    tn_pool_clear(pool);
    EXPECT_EQ(tn_pool_size(pool), 0u);
    static_cast<void>(tn_pool_trim(pool));
    tn_pool_destroy(pool);
    EXPECT_EQ(memory.live, 0u);
    EXPECT_EQ(tn_pool_create(0, 8, nullptr), nullptr);
    EXPECT_EQ(tn_pool_create(8, 3, nullptr), nullptr);
    EXPECT_EQ(tn_pool_create(SIZE_MAX, 8, nullptr), nullptr);
    EXPECT_EQ(tn_shared_pool_create(0, 8, nullptr), nullptr);
}

TEST(capi_pools, shared_ones_likewise) {
    counted_memory memory;
    const tn_block_source source = memory.source();
    tn_shared_pool* const pool = tn_shared_pool_create(300, 0, &source);
    ASSERT_NE(pool, nullptr);
    exercise([&](std::size_t) { return tn_shared_pool_allocate(pool); },
             [&](void* block, std::size_t) { tn_shared_pool_deallocate(pool, block); });
    static_cast<void>(tn_shared_pool_allocate(pool));
    EXPECT_EQ(tn_shared_pool_size(pool), 1u);
    tn_allocator_stats stats = no_stats();
    tn_shared_pool_get_stats(pool, &stats);
    EXPECT_EQ(stats.live_count, 1u);
    tn_shared_pool_clear(pool);
    static_cast<void>(tn_shared_pool_trim(pool));
    tn_shared_pool_destroy(pool);
    EXPECT_EQ(memory.live, 0u);
}

TEST(capi_affinity, groups_of_every_kind_serve) {
    for (std::uint32_t kind = 0; kind < 8; ++kind) {
        counted_memory memory;
        const tn_block_source source = memory.source();
        tn_affinity_options options{};
        options.size = sizeof options;
        options.name = {"nodes", 5};
        options.any_thread = kind & 1;
        options.sizes_required = kind >> 1 & 1;
        options.split_by_size = kind >> 2 & 1;
        options.source = &source;
        tn_affinity_group* const group = tn_affinity_create(&options);
        ASSERT_NE(group, nullptr);
        exercise([&](std::size_t bytes) { return tn_affinity_allocate(group, bytes, 0); },
                 [&](void* object, std::size_t bytes) {
                     options.sizes_required != 0 ? tn_affinity_deallocate_sized(group, object, bytes, 0)
                                                 : tn_affinity_deallocate(group, object);
                 });
        EXPECT_EQ(tenure::address_of(tn_affinity_allocate(group, 10, 64)) % 64, 0u);
        tn_allocator_stats stats = no_stats();
        tn_affinity_get_stats(group, &stats);
        EXPECT_EQ(stats.live_count, 1u);
        tn_affinity_clear(group);
        static_cast<void>(tn_affinity_trim(group));
        tn_affinity_destroy(group);
        EXPECT_EQ(memory.live, 0u);
    }
}

TEST(capi_affinity, a_free_that_leaves_the_size_out_is_reported_where_sizes_are_given) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "needs checks";
    if (is_passthrough()) GTEST_SKIP() << "malloc knows the size";
    tn_affinity_options options{};
    options.size = sizeof options;
    options.sizes_required = 1;
    tn_affinity_group* const group = tn_affinity_create(&options);
    ASSERT_NE(group, nullptr);
    void* const object = tn_affinity_allocate(group, 100, 0);
    {
        const support::heard_reports heard;
        tn_affinity_deallocate(group, object);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    }
    tn_affinity_destroy(group);
}

TEST(capi_offset, ranges_come_and_go_and_are_told) {
    const support::heard_reports heard; // checked builds report what is refused
    tn_offset_allocator* const offsets = tn_offset_create(1000);
    ASSERT_NE(offsets, nullptr);
    tn_offset_range first{}, second{}, none{};
    EXPECT_EQ(tn_offset_allocate(offsets, 100, 0, &first), TN_OK);
    EXPECT_EQ(tn_offset_allocate(offsets, 100, 64, &second), TN_OK);
    EXPECT_EQ(second.offset % 64, 0u);
    EXPECT_EQ(tn_offset_size_of(offsets, second), 100u);
    EXPECT_EQ(tn_offset_allocate(offsets, 5000, 1, &none), TN_OUT_OF_MEMORY);
    EXPECT_EQ(tn_offset_allocate(offsets, 5, 3, &none), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_offset_grow(offsets, 10), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_offset_grow(offsets, 10'000), TN_OK);
    EXPECT_EQ(tn_offset_shrink(offsets, 150), TN_STILL_HELD);
    EXPECT_EQ(tn_offset_shrink(offsets, 20'000), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_offset_allocate(offsets, 5000, 1, &none), TN_OK);
    tn_offset_deallocate_after(offsets, none, 1);
    tn_next_frame();
    EXPECT_EQ(tn_offset_collect(offsets), 1u);
    tn_offset_usage usage{};
    usage.size = sizeof usage;
    tn_offset_get_usage(offsets, &usage);
    EXPECT_EQ(usage.range_count, 2u);
    EXPECT_EQ(usage.free, 9'800u);
    std::uint64_t told = 0;
    tn_offset_walk(
        offsets,
        [](void* context, std::uint64_t, std::uint64_t size, std::uint32_t) {
            *static_cast<std::uint64_t*>(context) += size;
        },
        &told);
    EXPECT_EQ(told, 10'000u);
    tn_offset_deallocate(offsets, first);
    tn_offset_clear(offsets);
    tn_offset_destroy(offsets);
    EXPECT_EQ(tn_offset_create(UINT64_MAX), nullptr);
}

TEST(capi_offset, queries_count_a_deallocated_range_as_free_at_once) {
    tn_offset_allocator* const offsets = tn_offset_create(300);
    ASSERT_NE(offsets, nullptr);
    tn_offset_range ranges[3]{};
    for (tn_offset_range& each : ranges) ASSERT_EQ(tn_offset_allocate(offsets, 100, 1, &each), TN_OK);
    tn_offset_deallocate(offsets, ranges[0]);
    tn_offset_deallocate(offsets, ranges[1]);
    const tn_offset_allocator* const asked = offsets;
    tn_offset_usage usage{};
    usage.size = sizeof usage;
    tn_offset_get_usage(asked, &usage);
    EXPECT_EQ(usage.free, 200u);
    EXPECT_EQ(usage.largest_free, 200u);
    EXPECT_EQ(usage.free_count, 1u);
    EXPECT_EQ(usage.range_count, 1u);
    std::vector<std::uint64_t> free_sizes;
    tn_offset_walk(
        asked,
        [](void* context, std::uint64_t, std::uint64_t size, std::uint32_t is_free) {
            if (is_free != 0) static_cast<std::vector<std::uint64_t>*>(context)->push_back(size);
        },
        &free_sizes);
    EXPECT_EQ(free_sizes, std::vector<std::uint64_t>{200});
    EXPECT_EQ(tn_offset_size_of(asked, ranges[2]), 100u);
    EXPECT_EQ(tn_offset_collect(offsets), 0u);
    tn_offset_destroy(offsets);
}

TEST(capi_handles, are_live_held_and_freed_as_in_cpp) {
    tn_handle made{}, none{};
    ASSERT_EQ(tn_handle_allocate(1000, 64, TN_HANDLE_ZEROED, "C test", &made), TN_OK);
    EXPECT_EQ(tenure::address_of(made.pointer) % 64, 0u);
    std::uint64_t* const words = tn_handle_words();
    ASSERT_NE(words, nullptr);
    EXPECT_EQ(words[made.entry], made.generation);
    const std::uint32_t* const generations = tn_handle_generations();
    EXPECT_EQ(generations[made.entry], made.generation);
    EXPECT_EQ(tn_handle_acquire(&made), TN_OK);
    EXPECT_EQ(words[made.entry], made.generation + (std::uint64_t{1} << 32));
    std::uint32_t holders = 0;
    EXPECT_EQ(tn_handle_deallocate(&made, &holders), TN_STILL_HELD);
    EXPECT_EQ(holders, 1u);
    EXPECT_EQ(tn_handle_holders(&made), 1u);
    EXPECT_EQ(tn_handle_release(&made), TN_OK);
    EXPECT_EQ(tn_handle_release(&made), TN_NOT_HELD);
    struct seen {
        tn_handle wanted;
        int count;
    } found{made, 0};
    tn_handle_for_each(
        [](void* context, const tn_handle_info* info) {
            auto& to = *static_cast<seen*>(context);
            to.count += info->handle.entry == to.wanted.entry && std::string(info->kind) == "C test";
        },
        &found);
    EXPECT_EQ(found.count, 1);
    tn_handle_usage usage{};
    usage.size = sizeof usage;
    tn_handle_get_usage(&usage);
    EXPECT_GE(usage.live_count, 1u);
    EXPECT_EQ(tn_handle_is_live(&made), 1u);
    EXPECT_EQ(tn_handle_deallocate(&made, nullptr), TN_OK);
    EXPECT_EQ(tn_handle_is_live(&made), 0u);
    EXPECT_EQ(generations[made.entry], made.generation + 1);
    EXPECT_EQ(tn_handle_deallocate(&made, nullptr), TN_STALE_HANDLE);
    EXPECT_EQ(tn_handle_acquire(&none), TN_STALE_HANDLE);
    const support::heard_reports heard; // checked builds report what is refused
    EXPECT_EQ(tn_handle_allocate(10, 3, 0, "C test", &none), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_handle_allocate(10, 16, 8, "C test", &none), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_handle_map_file("/no such folder/x", 10, "C test", &none), TN_FILE_ERROR);
}

TEST(capi_handles, memory_of_the_callers_goes_back_to_the_caller) {
    static std::size_t given_back = 0;
    int mine = 7;
    tn_handle made{};
    ASSERT_EQ(tn_handle_add(
                  &mine, sizeof mine, [](void*, std::size_t bytes) { given_back += bytes; }, "C test", &made),
              TN_OK);
    EXPECT_EQ(tn_handle_deallocate(&made, nullptr), TN_OK);
    EXPECT_EQ(given_back, sizeof mine);
    ASSERT_EQ(tn_handle_add(&mine, sizeof mine, nullptr, "C test", &made), TN_OK);
    EXPECT_EQ(tn_handle_deallocate(&made, nullptr), TN_OK);
}

}
