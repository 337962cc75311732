// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// An alignment that is no power of two, passed to every call that takes one.

#include <cstddef>

#include <gtest/gtest.h>

#include <tenure/tenure.hpp>
#include <tenure/tenure_engine.h>

#include "support/reports.hpp"

namespace {

constexpr std::size_t wrong = 24;

/// Expects that the call fails and, in checked builds, reports the alignment.
#define EXPECT_REFUSED(call)                                                                                           \
    do {                                                                                                               \
        const support::heard_reports heard;                                                                            \
        EXPECT_FALSE(static_cast<bool>(call)) << #call;                                                                \
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u) << #call;                \
    } while (false)

TEST(alignments, that_are_no_power_of_two_are_refused_and_reported_by_every_call_of_cpp) {
    using tenure::lifetime;
    for (const lifetime held : {lifetime::temp, lifetime::temp_job, lifetime::persistent}) {
        EXPECT_REFUSED(tenure::allocate(8, held, wrong));
        EXPECT_REFUSED(tenure::allocate(100'000, held, wrong));
    }
    EXPECT_REFUSED(tenure::temp::allocate(8, wrong));
    EXPECT_REFUSED(tenure::temp_scope::allocate(8, wrong));
    EXPECT_REFUSED(tenure::temp_stack::first().allocate(8, wrong));
    EXPECT_REFUSED(tenure::temp_stack::second().allocate(8, wrong));
    EXPECT_REFUSED(tenure::temp_job::allocate(8, wrong));
    EXPECT_REFUSED(tenure::process_memory::allocate(8, wrong));
    tenure::heap own;
    for (tenure::heap* each : {&tenure::heap::process(), &own}) {
        EXPECT_REFUSED(each->allocate(8, wrong));
        EXPECT_REFUSED(each->allocate(8, wrong, tenure::fill::zero));
        EXPECT_REFUSED(each->allocate(0, wrong));
        EXPECT_REFUSED(each->reallocate(nullptr, 8, wrong));
        void* const block = each->allocate(8);
        EXPECT_REFUSED(each->reallocate(block, 100, wrong));
        each->deallocate(block);
    }
    tenure::arena arena;
    EXPECT_REFUSED(arena.allocate(8, wrong));
    tenure::affinity_group group("alignments");
    EXPECT_REFUSED(group.allocate(8, wrong));
    tenure::offset_allocator offsets(1000);
    EXPECT_REFUSED(offsets.allocate(8, wrong));
    tenure::frame_memory frames(2);
    EXPECT_REFUSED(frames.allocate(8, wrong));
    EXPECT_REFUSED(tenure::block_pool(48, wrong).allocate());
    EXPECT_REFUSED(tenure::shared_block_pool(48, wrong).allocate());
}

TEST(alignments, that_are_no_power_of_two_are_refused_and_reported_by_every_call_of_c) {
    EXPECT_REFUSED(tn_aligned_alloc(8, wrong));
    EXPECT_REFUSED(tn_aligned_realloc(nullptr, 8, wrong));
    EXPECT_REFUSED(tn_allocate(8, wrong, TN_TEMP));
    EXPECT_REFUSED(tn_allocate(8, wrong, TN_TEMP_JOB));
    EXPECT_REFUSED(tn_allocate(8, wrong, TN_PERSISTENT));
    EXPECT_REFUSED(tn_temp_stack_allocate(TN_TEMP_FIRST, 8, wrong));
    EXPECT_REFUSED(tn_temp_stack_allocate(TN_TEMP_SECOND, 8, wrong));
    tn_heap* const heap = tn_heap_create(nullptr);
    EXPECT_REFUSED(tn_heap_allocate(heap, 8, wrong));
    EXPECT_REFUSED(tn_heap_allocate_zeroed(heap, 8, wrong));
    EXPECT_REFUSED(tn_heap_reallocate(heap, nullptr, 8, wrong));
    tn_heap_destroy(heap);
    tn_arena* const arena = tn_arena_create(0, nullptr);
    EXPECT_REFUSED(tn_arena_allocate(arena, 8, wrong));
    tn_arena_destroy(arena);
    EXPECT_REFUSED(tn_pool_create(48, wrong, nullptr));
    EXPECT_REFUSED(tn_shared_pool_create(48, wrong, nullptr));
    EXPECT_REFUSED(tn_handle_pool_create(48, wrong, 10));
    tn_affinity_options options{};
    options.size = sizeof options;
    options.alignment = wrong;
    EXPECT_REFUSED(tn_affinity_create(&options));
    options.alignment = 0;
    tn_affinity_group* const group = tn_affinity_create(&options);
    EXPECT_REFUSED(tn_affinity_allocate(group, 8, wrong));
    tn_affinity_destroy(group);
    tn_offset_allocator* const offsets = tn_offset_create(1000);
    tn_offset_range range{};
    EXPECT_REFUSED(tn_offset_allocate(offsets, 8, wrong, &range) == TN_OK);
    tn_offset_destroy(offsets);
    tn_frame_memory* const frames = tn_frame_memory_create(2, nullptr);
    EXPECT_REFUSED(tn_frame_memory_allocate(frames, 8, wrong));
    tn_frame_memory_destroy(frames);
    tn_handle handle{};
    EXPECT_REFUSED(tn_handle_allocate(8, wrong, 0, nullptr, &handle) == TN_OK);
}

}
