// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/tenure_engine.h>

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/purge/background.hpp>
#include <tenure/heap/heap.hpp>

#include "support/heap_profile_file.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

TEST(capi_engine, scratch_comes_from_the_stack_that_the_results_are_not_on) {
    const support::heard_reports heard; // checked builds report what is refused
    tn_temp_scope scope;
    tn_temp_begin(&scope);
    auto* const result = static_cast<char*>(tn_temp_stack_allocate(TN_TEMP_FIRST, 100, 0));
    tn_scratch_scope outer;
    EXPECT_EQ(tn_scratch_begin(&outer, TN_TEMP_FIRST), TN_TEMP_SECOND);
    void* const scratch = tn_temp_stack_allocate(TN_TEMP_SECOND, 100, 0);
    tn_scratch_scope inner;
    EXPECT_EQ(tn_scratch_begin(&inner, TN_TEMP_SECOND), TN_TEMP_FIRST);
    std::strcpy(result, "kept");
    static_cast<void>(tn_temp_stack_allocate(TN_TEMP_FIRST, 100, 0));
    tn_scratch_end(&inner);
    tn_scratch_end(&outer);
    EXPECT_STREQ(result, "kept");
    EXPECT_EQ(tn_temp_stack_allocate(TN_TEMP_SECOND, 100, 0), scratch);
    EXPECT_EQ(tn_temp_stack_allocate(TN_TEMP_FIRST, 1, 3), nullptr);
    tn_temp_end(&scope);
    tn_reset_temp();
}

TEST(capi_engine, a_temp_state_keeps_the_blocks_and_scopes_of_a_job_apart) {
    tn_temp_state* const job = tn_temp_state_create(64 * 1024);
    ASSERT_NE(job, nullptr);
    auto* const own = static_cast<char*>(tn_allocate(100, 0, TN_TEMP));
    std::strcpy(own, "kept");
    tn_temp_state* before = job;
    EXPECT_EQ(tn_temp_state_switch(job, &before), TN_OK);
    EXPECT_EQ(before, nullptr);
    EXPECT_EQ(tn_temp_state_current(), job);
    tn_temp_scope scope;
    tn_temp_begin(&scope);
    auto* const of_job = static_cast<char*>(tn_allocate(1000, 0, TN_TEMP));
    std::strcpy(of_job, "the job's");
    EXPECT_EQ(tn_temp_state_switch(nullptr, &before), TN_OK);
    EXPECT_EQ(before, job);
    tn_reset_temp();
    EXPECT_EQ(tn_temp_state_switch(job, nullptr), TN_OK);
    EXPECT_STREQ(of_job, "the job's");
    tn_temp_end(&scope);
    EXPECT_EQ(tn_temp_state_switch(nullptr, nullptr), TN_OK);
    EXPECT_EQ(tn_temp_state_current(), nullptr);
    tn_temp_state_destroy(job);
    tn_temp_state_destroy(nullptr);
}

TEST(capi_engine, a_temp_state_that_another_thread_uses_is_refused_in_checked_builds) {
    if (tn_check_level() == 0) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    tn_temp_state* const job = tn_temp_state_create(0);
    EXPECT_EQ(tn_temp_state_switch(job, nullptr), TN_OK);
    support::on_fresh_thread([&] {
        tn_temp_state* before = job;
        EXPECT_EQ(tn_temp_state_switch(job, &before), TN_INVALID_ARGUMENT);
        EXPECT_EQ(before, nullptr);
        EXPECT_EQ(tn_temp_state_current(), nullptr);
    });
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(tn_temp_state_switch(nullptr, nullptr), TN_OK);
    tn_temp_state_destroy(job);
}

TEST(capi_engine, handles_go_stale_and_objects_are_visited_in_order) {
    tn_handle_pool* const pool = tn_handle_pool_create(24, 8, 1000);
    ASSERT_NE(pool, nullptr);
    std::vector<tn_pool_handle> handles;
    for (int count = 0; count < 200; ++count) {
        void* object = nullptr;
        handles.push_back(tn_handle_pool_allocate(pool, &object));
        ASSERT_NE(handles.back(), 0u);
        ASSERT_EQ(tn_handle_pool_get(pool, handles.back()), object);
        std::memset(object, count, 24);
    }
    for (std::size_t index = 0; index < 200; index += 2) {
        EXPECT_EQ(tn_handle_pool_deallocate(pool, handles[index]), TN_OK);
        EXPECT_EQ(tn_handle_pool_deallocate(pool, handles[index]), TN_STALE_HANDLE);
        EXPECT_EQ(tn_handle_pool_get(pool, handles[index]), nullptr);
    }
    EXPECT_EQ(tn_handle_pool_deallocate(pool, 0), TN_STALE_HANDLE);
    tn_pool_handle at = 0;
    std::size_t seen = 1;
    while (void* const object = tn_handle_pool_next(pool, &at)) {
        EXPECT_EQ(at, handles[seen]);
        EXPECT_EQ(*static_cast<unsigned char*>(object), seen);
        seen += 2;
    }
    EXPECT_EQ(seen, 201u);
    EXPECT_EQ(tn_handle_pool_size(pool), 100u);
    tn_handle_pool_clear(pool);
    EXPECT_EQ(tn_handle_pool_size(pool), 0u);
    EXPECT_EQ(tn_handle_pool_get(pool, handles[1]), nullptr);
    at = 0;
    EXPECT_EQ(tn_handle_pool_next(pool, &at), nullptr);
    static_cast<void>(tn_handle_pool_trim(pool));
    tn_handle_pool_destroy(pool);
    tn_handle_pool_destroy(nullptr);
}

TEST(capi_engine, a_handle_of_another_pool_is_refused) {
    tn_handle_pool* const first = tn_handle_pool_create(24, 8, 10);
    tn_handle_pool* const second = tn_handle_pool_create(24, 8, 10);
    const tn_pool_handle in_first = tn_handle_pool_allocate(first, nullptr);
    const tn_pool_handle in_second = tn_handle_pool_allocate(second, nullptr);
    EXPECT_NE(in_first, in_second);
    EXPECT_EQ(tn_handle_pool_get(first, in_second), nullptr);
    EXPECT_EQ(tn_handle_pool_deallocate(first, in_second), TN_STALE_HANDLE);
    EXPECT_NE(tn_handle_pool_get(first, in_first), nullptr);
    tn_handle_pool_destroy(first);
    tn_handle_pool* const third = tn_handle_pool_create(24, 8, 10);
    EXPECT_NE(tn_handle_pool_allocate(third, nullptr), in_first);
    EXPECT_EQ(tn_handle_pool_get(third, in_first), nullptr);
    tn_handle_pool_destroy(second);
    tn_handle_pool_destroy(third);
}

TEST(capi_engine, arguments_out_of_range_are_refused) {
    const support::heard_reports heard; // checked builds report what is refused
    EXPECT_EQ(tn_handle_pool_create(0, 8, 10), nullptr);
    EXPECT_EQ(tn_handle_pool_create(8, 3, 10), nullptr);
    EXPECT_EQ(tn_handle_pool_create(8, 8, 0), nullptr);
    EXPECT_EQ(tn_handle_pool_create(8, 8, SIZE_MAX), nullptr);
    EXPECT_EQ(tn_frame_memory_create(0, nullptr), nullptr);
    EXPECT_EQ(tn_frame_memory_create(9, nullptr), nullptr);
    EXPECT_EQ(tn_set_budget(0, 1, 1, nullptr, nullptr), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_set_budget(4095, 1, 1, nullptr, nullptr), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_set_budget(UINT32_MAX, 1, 1, nullptr, nullptr), TN_INVALID_ARGUMENT);
}

TEST(capi_engine, frame_memory_lasts_for_its_frames) {
    tn_frame_memory* const memory = tn_frame_memory_create(2, nullptr);
    ASSERT_NE(memory, nullptr);
    auto* const text = static_cast<char*>(tn_frame_memory_allocate(memory, 100, 0));
    std::strcpy(text, "frame");
    tn_next_frame();
    static_cast<void>(tn_frame_memory_allocate(memory, 100, 0));
    EXPECT_STREQ(text, "frame");
    tn_allocator_stats stats{};
    stats.size = sizeof stats;
    tn_frame_memory_get_stats(memory, &stats);
    EXPECT_GE(stats.live_bytes, 200u);
    tn_next_frame();
    tn_next_frame();
    EXPECT_GT(tn_frame_memory_trim(memory), 0u);
    tn_frame_memory_destroy(memory);
}

struct told {
    int thresholds = 0, refusals = 0;
    std::string name;
};

TEST(capi_engine, a_budget_tells_and_refuses) {
    if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "malloc knows no budgets";
    const std::uint32_t tag = tn_tag_named("capi budget", 11);
    told heard;
    const auto hear = [](void* context, const tn_budget_event* event) {
        auto& into = *static_cast<told*>(context);
        ++(event->what == TN_BUDGET_REFUSAL ? into.refusals : into.thresholds);
        into.name.assign(event->name.data, event->name.length);
    };
    ASSERT_EQ(tn_set_budget(tag, 4u << 20, 2u << 20, hear, &heard), TN_OK);
    const std::uint32_t before = tn_tag_begin(tag);
    void* const first = tn_malloc(3u << 20);
    void* const second = tn_malloc(3u << 20);
    tn_tag_end(before);
    EXPECT_NE(first, nullptr);
    EXPECT_EQ(second, nullptr);
    EXPECT_EQ(heard.thresholds, 1);
    EXPECT_EQ(heard.refusals, 1);
    EXPECT_EQ(heard.name, "capi budget");
    tn_budget set{};
    set.size = sizeof set;
    ASSERT_EQ(tn_budget_of(tag, &set), TN_OK);
    EXPECT_EQ(set.limit_bytes, 4u << 20);
    EXPECT_EQ(set.threshold_bytes, 2u << 20);
    EXPECT_EQ(set.handler, static_cast<tn_budget_handler>(hear));
    EXPECT_EQ(set.context, &heard);
    EXPECT_EQ(tn_refusals_of(tag), 1u);
    EXPECT_EQ(tn_budget_of(4095, &set), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_refusals_of(UINT32_MAX), 0u);
    tn_free(first);
    EXPECT_EQ(tn_set_budget(tag, UINT64_MAX, UINT64_MAX, nullptr, nullptr), TN_OK);
}

TEST(capi_engine, hooks_are_copied_and_told_of_blocks) {
    if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "its blocks come from malloc";
    const support::heard_reports heard; // checked builds report what is refused
    struct counts {
        std::size_t begins = 0, ends = 0, bytes = 0;
    } seen;
    {
        tn_hooks hooks{};
        EXPECT_EQ(tn_set_hooks(&hooks), TN_INVALID_ARGUMENT) << "without a size";
        hooks.size = sizeof hooks;
        hooks.context = &seen;
        hooks.block_begin = [](void* context, const void*, std::size_t bytes) {
            auto& into = *static_cast<counts*>(context);
            ++into.begins;
            into.bytes = bytes;
        };
        hooks.block_end = [](void* context, const void*) { ++static_cast<counts*>(context)->ends; };
        ASSERT_EQ(tn_set_hooks(&hooks), TN_OK);
    }
    tn_free(tn_malloc(1234));
    EXPECT_EQ(seen.begins, 1u);
    EXPECT_EQ(seen.ends, 1u);
    EXPECT_EQ(seen.bytes, 1234u);
    ASSERT_EQ(tn_set_hooks(nullptr), TN_OK);
    tn_free(tn_malloc(1234));
    EXPECT_EQ(seen.begins, 1u);
}

TEST(capi_engine, equal_hooks_use_one_of_the_eight_places_again_and_other_flags_are_refused) {
    const support::heard_reports heard; // checked builds report what is refused
    tn_hooks hooks{};
    hooks.size = sizeof hooks;
    static int one_context, other_context;
    for (int count = 0; count < 100; ++count) {
        hooks.context = count % 2 == 0 ? &one_context : &other_context;
        ASSERT_EQ(tn_set_hooks(&hooks), TN_OK);
    }
    hooks.flags = 2;
    EXPECT_EQ(tn_set_hooks(&hooks), TN_INVALID_ARGUMENT);
    ASSERT_EQ(tn_set_hooks(nullptr), TN_OK);
}

TEST(capi_engine, usage_per_frame_is_recorded_read_and_written) {
    const support::heard_reports heard; // checked builds report what is refused
    EXPECT_EQ(tn_frame_usage_log_create(10, 5000, nullptr), nullptr);
    tn_frame_usage_log* const log = tn_frame_usage_log_create(2, 0, nullptr);
    ASSERT_NE(log, nullptr);
    const std::uint32_t tag = tn_tag_named("capi usage", 10);
    const std::uint32_t before = tn_tag_begin(tag);
    void* const block = tn_malloc(100'000);
    tn_tag_end(before);
    for (int frame = 0; frame < 3; ++frame) {
        tn_frame_usage_log_record(log);
        tn_next_frame();
    }
    EXPECT_EQ(tn_frame_usage_log_size(log), 2u);
    tn_frame_usage usage{};
    std::uint64_t first = 0, second = 0;
    EXPECT_EQ(tn_frame_usage_log_at(log, 0, tag, &usage, nullptr), TN_INVALID_ARGUMENT) << "without a size";
    usage.size = sizeof usage;
    EXPECT_EQ(tn_frame_usage_log_at(log, 2, tag, &usage, nullptr), TN_INVALID_ARGUMENT);
    ASSERT_EQ(tn_frame_usage_log_at(log, 0, tag, &usage, &first), TN_OK);
    ASSERT_EQ(tn_frame_usage_log_at(log, 1, tag, &usage, &second), TN_OK);
    EXPECT_EQ(second, first + 1);
    if (!tenure::passthrough_enabled(tenure::part::heap)) {
        EXPECT_GE(usage.persistent_bytes, 100'000u);
    }
    std::string text;
    tn_frame_usage_log_write(
        log,
        [](void* context, tn_text piece) {
            static_cast<std::string*>(context)->append(piece.data, static_cast<std::size_t>(piece.length));
        },
        &text);
    EXPECT_EQ(text.front(), '{');
    tn_free(block);
    tn_frame_usage_log_destroy(log);
    tn_frame_usage_log_destroy(nullptr);
}

TEST(capi_engine, a_heap_tells_its_usage_and_takes_options_of_before) {
    tn_heap_options options{};
    options.size = 56; // before no_background
    options.no_background = 1;
    tn_heap* const older = tn_heap_create(&options);
    ASSERT_NE(older, nullptr);
    options.size = sizeof options;
    tn_heap* const heap = tn_heap_create(&options);
    ASSERT_NE(heap, nullptr);
    void* const block = tn_heap_allocate(heap, 100'000, 0);
    tn_heap_usage usage{};
    usage.size = sizeof usage;
    tn_heap_get_usage(heap, &usage);
    EXPECT_EQ(usage.live_count, 1u);
    EXPECT_GE(usage.live_bytes, 100'000u);
    if (!tenure::passthrough_enabled(tenure::part::heap)) {
        EXPECT_GE(usage.in_use_bytes, 100'000u);
        EXPECT_GE(usage.committed_bytes, usage.in_use_bytes);
    }
    std::size_t untended = 0;
    tenure::detail::visit_cores(
        [](void* count, tenure::detail::heap_core& core) noexcept {
            if (!core.is_tended()) ++*static_cast<std::size_t*>(count);
        },
        &untended);
    EXPECT_EQ(untended, 1u) << "the options of before have no such field";
    tn_heap_deallocate(heap, block);
    tn_heap_destroy(heap);
    tn_heap_destroy(older);
}

TEST(capi_engine, a_heap_profile_is_started_saved_and_stopped) {
    if (tenure::passthrough_enabled(tenure::part::heap)) {
        EXPECT_EQ(tn_profile_start(0), TN_UNSUPPORTED);
        return;
    }
    const std::string path = testing::TempDir() + "capi_engine_test." + std::to_string(::getpid()) + ".heapprofile";
    EXPECT_EQ(tn_profile_stop(), TN_NOT_STARTED);
    EXPECT_EQ(tn_profile_save(path.data(), path.size()), TN_NOT_STARTED);
    EXPECT_EQ(tn_profile_save_with_pages(path.data(), path.size()), TN_NOT_STARTED);
    EXPECT_EQ(tn_profile_start(UINT64_MAX), TN_INVALID_ARGUMENT);
    ASSERT_EQ(tn_profile_start(1), TN_OK);
    EXPECT_NE(tn_profile_is_running(), 0u);
    EXPECT_EQ(tn_profile_start(0), TN_ALREADY_STARTED);
    void* const block = tn_malloc(100'000);
    EXPECT_EQ(tn_profile_save(nullptr, 0), TN_FILE_ERROR);
    ASSERT_EQ(tn_profile_save(path.data(), path.size()), TN_OK);
    support::heap_profile_file file;
    support::read_heap_profile(path, file);
    ASSERT_EQ(file.live.size(), 1u);
    EXPECT_EQ(file.live[0].address, tenure::address_of(block));
    EXPECT_TRUE(file.pages.empty());
    EXPECT_EQ(tn_profile_save_with_pages(nullptr, 0), TN_FILE_ERROR);
    ASSERT_EQ(tn_profile_save_with_pages(path.data(), path.size()), TN_OK);
    support::read_heap_profile(path, file);
    EXPECT_FALSE(file.pages.empty());
    tn_free(block);
    EXPECT_EQ(tn_profile_stop(), TN_OK);
    EXPECT_EQ(tn_profile_is_running(), 0u);
    std::remove(path.c_str());
}

}
