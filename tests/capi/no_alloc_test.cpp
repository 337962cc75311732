// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include <tenure/base/config.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/region.hpp>
#include <tenure/tenure.h>

#include "capi/fixture.hpp"
#include "support/reports.hpp"

namespace {

using capi::expect_reported;
using tenure::no_alloc_scope;

TEST(capi_no_alloc, c_and_cpp_make_the_same_promise) {
    EXPECT_EQ(tn_no_alloc_is_active(), 0u);
    tn_no_alloc_begin();
    EXPECT_TRUE(no_alloc_scope::is_active());
    tn_allow_alloc_begin();
    EXPECT_EQ(tn_no_alloc_is_active(), 0u);
    tn_allow_alloc_end();
    {
        const no_alloc_scope inner;
        EXPECT_EQ(tn_no_alloc_is_active(), 1u);
    }
    EXPECT_EQ(tn_no_alloc_is_active(), 1u);
    tn_no_alloc_end();
    EXPECT_FALSE(no_alloc_scope::is_active());
}

TEST(capi_no_alloc, c_and_cpp_make_the_same_promise_not_to_wait) {
    EXPECT_EQ(tn_no_wait_is_active(), 0u);
    tn_no_wait_begin();
    EXPECT_TRUE(tenure::no_wait_scope::is_active());
    EXPECT_EQ(tn_no_alloc_is_active(), 1u);
    tn_allow_alloc_begin();
    EXPECT_EQ(tn_no_wait_is_active(), 0u);
    tn_allow_alloc_end();
    {
        const tenure::no_wait_scope inner;
        EXPECT_EQ(tn_no_wait_is_active(), 1u);
    }
    tn_no_wait_end();
    EXPECT_FALSE(tenure::no_wait_scope::is_active());
}

TEST(capi_no_alloc, a_promise_of_c_not_to_wait_is_broken_by_every_call_that_frees) {
    const support::heard_reports heard;
    tn_arena* const arena = tn_arena_create(0, nullptr);
    tn_pool* const pool = tn_pool_create(64, 0, nullptr);
    tn_affinity_group* const group = tn_affinity_create(nullptr);
    tn_heap* const heap = tn_heap_create(nullptr);
    void* const block = tn_malloc(10);
    void* const sized = tn_malloc(10);
    void* const job = tn_allocate(10, 0, TN_TEMP_JOB);
    void* const of_pool = tn_pool_allocate(pool);
    void* const of_group = tn_affinity_allocate(group, 10, 0);
    void* const of_heap = tn_heap_allocate(heap, 10, 0);
    tn_handle handle{};
    EXPECT_EQ(tn_handle_allocate(10, 0, TN_HANDLE_UNWRITTEN, nullptr, &handle), TN_OK);
    tn_no_wait_begin();
    tn_free(block);
    tn_free(nullptr);
    tn_deallocate(sized, TN_PERSISTENT);
    tn_deallocate(job, TN_TEMP_JOB);
    tn_pool_deallocate(pool, of_pool);
    tn_affinity_deallocate(group, of_group);
    tn_heap_deallocate(heap, of_heap);
    EXPECT_EQ(tn_handle_deallocate(&handle, nullptr), TN_OK);
    expect_reported(heard, 8);
    tn_no_wait_end();
    tn_free(nullptr);
    expect_reported(heard, 8);
    tn_heap_destroy(heap);
    tn_affinity_destroy(group);
    tn_pool_destroy(pool);
    tn_arena_destroy(arena);
}

TEST(capi_no_alloc, a_promise_of_c_is_broken_by_every_call_that_allocates) {
    const support::heard_reports heard;
    tn_arena* const arena = tn_arena_create(0, nullptr);
    tn_pool* const pool = tn_pool_create(64, 0, nullptr);
    tn_affinity_group* const group = tn_affinity_create(nullptr);
    tn_heap* const heap = tn_heap_create(nullptr);
    (void)tn_arena_allocate(arena, 10, 1); // a chunk, so that a caller could allocate by itself
    tn_no_alloc_begin();
    tn_free(tn_malloc(10));
    tn_free(tn_calloc(2, 10));
    tn_free(tn_aligned_alloc(64, 64));
    tn_free(tn_realloc(nullptr, 64));
    tn_deallocate(tn_allocate(10, 0, TN_TEMP_JOB), TN_TEMP_JOB);
    (void)tn_arena_allocate(arena, 10, 1);
    tn_pool_deallocate(pool, tn_pool_allocate(pool));
    tn_affinity_deallocate(group, tn_affinity_allocate(group, 10, 0));
    tn_heap_deallocate(heap, tn_heap_allocate(heap, 10, 0));
    tn_heap_deallocate(heap, tn_heap_allocate_zeroed(heap, 10, 0));
    tn_handle handle{};
    EXPECT_EQ(tn_handle_allocate(10, 0, TN_HANDLE_UNWRITTEN, nullptr, &handle), TN_OK);
    EXPECT_EQ(tn_handle_deallocate(&handle, nullptr), TN_OK);
    tn_offset_destroy(tn_offset_create(100));
    expect_reported(heard, 12);
    tn_no_alloc_end();
    tn_free(tn_malloc(10));
    expect_reported(heard, 12);
    tn_heap_destroy(heap);
    tn_affinity_destroy(group);
    tn_pool_destroy(pool);
    tn_arena_destroy(arena);
}

TEST(capi_no_alloc, regions_of_c_nest_and_have_any_name) {
    tn_region_begin("frame", 5);
    tn_region_begin(nullptr, 0);
    EXPECT_EQ(tenure::detail::this_thread_scopes().regions, 2u);
    tn_mark("a moment", 8);
    tn_mark(nullptr, 0);
    tn_region_end();
    tn_region_end();
    EXPECT_EQ(tenure::detail::this_thread_scopes().regions, 0u);
}

TEST(capi_no_alloc, an_end_without_a_begin_does_nothing_and_is_reported_with_checks) {
    const support::heard_reports heard;
    tn_no_alloc_end();
    tn_allow_alloc_end();
    tn_region_end();
    expect_reported(heard, 3);
    const no_alloc_scope promise;
    EXPECT_EQ(tn_no_alloc_is_active(), 1u);
    EXPECT_EQ(tenure::detail::this_thread_scopes().regions, 0u);
}

}
