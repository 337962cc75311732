// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/lifetime/temp_job.hpp>
#include <tenure/tenure.h>
#include <tenure/tenure_engine.h>
#include <tenure/tenure_quick.h>

#include "capi/fixture.hpp"
#include "support/reports.hpp"

namespace {

using capi::is_zero;

constexpr bool is_checked = tenure::checks::caller;

[[nodiscard]] bool is_aligned(const void* block, std::size_t alignment) {
    return tenure::address_of(block) % alignment == 0;
}
TEST(capi_library, versions_and_level_are_those_of_the_build) {
    EXPECT_EQ(tn_abi_version(), TN_ABI_VERSION);
    EXPECT_EQ(tn_quick_version(), TN_QUICK_VERSION);
    EXPECT_EQ(tn_check_level(), static_cast<std::uint32_t>(tenure::checks::level));
    tn_text version{};
    tn_version(&version);
    EXPECT_EQ(std::string_view(version.data, version.length).find("0."), 0u);
}

TEST(capi_library, every_status_has_a_sentence) {
    for (tn_status each = TN_OK; each <= TN_NOT_STARTED; ++each) {
        tn_text text{};
        tn_status_text(each, &text);
        EXPECT_GT(text.length, 5u);
        EXPECT_NE(std::string_view(text.data, text.length), "unknown status");
    }
    for (const tn_status each : {-1, TN_NOT_STARTED + 1, INT32_MAX, INT32_MIN}) {
        tn_text text{};
        tn_status_text(each, &text);
        EXPECT_EQ(std::string_view(text.data, text.length), "unknown status");
    }
}

TEST(capi_memory, blocks_are_aligned_zeroed_kept_and_given_back) {
    void* const plain = tn_malloc(100);
    ASSERT_NE(plain, nullptr);
    EXPECT_TRUE(is_aligned(plain, 16));
    EXPECT_GE(tn_usable_size(plain), 100u);
    if (!tenure::passthrough_enabled(tenure::part::heap)) {
        EXPECT_TRUE(tn_owns(plain));
    }
    std::memset(plain, 7, 100);
    auto* const larger = static_cast<unsigned char*>(tn_realloc(plain, 100'000));
    ASSERT_NE(larger, nullptr);
    EXPECT_EQ(larger[99], 7);
    tn_free_sized(larger, 100'000);
    void* const zeroed = tn_calloc(1000, 8);
    ASSERT_NE(zeroed, nullptr);
    EXPECT_TRUE(is_zero(zeroed, 8000));
    tn_free(zeroed);
    for (std::size_t alignment = 1; alignment <= 1 << 16; alignment *= 2) {
        void* const block = tn_aligned_alloc(10, alignment);
        ASSERT_TRUE(block != nullptr && is_aligned(block, alignment));
        void* const grown = tn_aligned_realloc(block, 5000, alignment);
        ASSERT_TRUE(grown != nullptr && is_aligned(grown, alignment));
        tn_free(grown);
    }
    tn_free(nullptr);
    tn_free_sized(nullptr, 10);
    EXPECT_EQ(tn_usable_size(nullptr), 0u);
}

TEST(capi_memory, what_cannot_be_is_null) {
    const support::heard_reports heard; // checked builds report what is refused
    EXPECT_EQ(tn_malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(tn_calloc(SIZE_MAX / 2, 3), nullptr);
    EXPECT_EQ(tn_aligned_alloc(10, 3), nullptr);
    EXPECT_EQ(tn_allocate(10, 3, TN_TEMP), nullptr);
    EXPECT_EQ(tn_allocate(10, 3, TN_TEMP_JOB), nullptr);
    EXPECT_EQ(tn_allocate(10, 3, TN_PERSISTENT), nullptr);
    EXPECT_EQ(tn_allocate(10, 16, TN_PERSISTENT + 1), nullptr);
    void* const block = tn_malloc(10);
    EXPECT_EQ(tn_realloc(block, SIZE_MAX), nullptr);
    tn_free(block);
}

TEST(capi_lifetimes, each_lifetime_serves_and_takes_back) {
    for (const tn_lifetime held : {TN_TEMP, TN_TEMP_JOB, TN_PERSISTENT}) {
        void* const block = tn_allocate(100, 0, held);
        ASSERT_TRUE(block != nullptr && is_aligned(block, 16));
        std::memset(block, 1, 100);
        tn_deallocate_sized(block, 100, held);
        void* const other = tn_allocate(24, 64, held);
        ASSERT_TRUE(other != nullptr && is_aligned(other, 64));
        tn_deallocate(other, held);
        tn_deallocate(nullptr, held);
    }
    tn_reset_temp();
    const std::uint64_t before = tn_frame();
    tn_next_frame();
    EXPECT_EQ(tn_frame(), before + 1);
}

TEST(capi_lifetimes, scopes_of_temp_nest_and_give_back_what_was_allocated_inside) {
    tn_temp_stats stats{};
    stats.size = sizeof stats;
    const auto used = [&] {
        tn_temp_get_stats(&stats);
        return stats.used_bytes;
    };
    tn_reset_temp();
    ASSERT_NE(tn_allocate(100, 16, TN_TEMP), nullptr);
    const std::uint64_t outside = used();
    tn_temp_scope outer{}, inner{};
    tn_temp_begin(&outer);
    ASSERT_NE(tn_allocate(1000, 16, TN_TEMP), nullptr);
    const std::uint64_t between = used();
    tn_temp_begin(&inner);
    ASSERT_NE(tn_allocate(std::size_t{16} << 20, 16, TN_TEMP), nullptr); // past the budget
    EXPECT_GT(used(), between);
    tn_temp_end(&inner);
    EXPECT_EQ(used(), between);
    tn_temp_end(&outer);
    EXPECT_EQ(used(), outside);
    tn_reset_temp();
}

TEST(capi_quick, short_calls_serve_from_what_is_at_hand_and_refuse_otherwise) {
    tn_free(tn_malloc(100)); // now the thread has a block of the size
    void* const block = tn_try_malloc(100);
    tn_quick_layout layout{};
    layout.size = sizeof layout;
    tn_get_quick_layout(&layout);
    EXPECT_EQ(layout.is_available, block != nullptr);
    if (block == nullptr) GTEST_SKIP() << "checked, or the heap is malloc's";
    std::memset(block, 1, 100);
    EXPECT_EQ(tn_try_free(block), 1u);
    EXPECT_EQ(tn_try_malloc(100), block);
    EXPECT_EQ(tn_try_free(block), 1u);
    EXPECT_EQ(tn_try_malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(tn_try_malloc(std::size_t{1} << 20), nullptr);
    void* const huge = tn_malloc(std::size_t{100} << 20);
    EXPECT_EQ(tn_try_free(huge), 0u);
    tn_free(huge);
    void* const at_a_segment = tn_aligned_alloc(100, std::size_t{1} << layout.segment_shift);
    ASSERT_NE(at_a_segment, nullptr);
    *static_cast<std::uint8_t*>(at_a_segment) = layout.class_of_eights[(100 + 7) / 8]; // which it would be taken for
    tn_free(tn_malloc(100));
    EXPECT_EQ(tn_try_free(at_a_segment), 0u) << "what lies at a segment's begin has no class there";
    tn_free(at_a_segment);
    int refused = 0; // a cache runs out
    std::vector<void*> taken;
    while (refused == 0) {
        void* const next = tn_try_malloc(3000);
        next != nullptr ? taken.push_back(next) : static_cast<void>(++refused);
    }
    for (void* const each : taken) tn_free(each);
}

// What C# does in place of a call, step by step as tenure_quick.h says.
TEST(capi_quick, the_layouts_are_what_the_header_says) {
    tn_quick_layout layout{};
    layout.size = sizeof layout;
    tn_get_quick_layout(&layout);
    if (layout.is_available == 0) GTEST_SKIP() << "checked, or the heap is malloc's";
    tn_quick_thread thread{};
    thread.size = sizeof thread;
    tn_get_quick_thread(&thread);
    tn_free(tn_malloc(100));
    auto* const cache = static_cast<unsigned char*>(*thread.heap_cache);
    ASSERT_NE(cache, nullptr);
    auto* const caches = static_cast<tn_block_cache*>(static_cast<void*>(cache + layout.caches_offset));
    ASSERT_GE(layout.classes_limit_bytes, 100u);
    tn_block_cache& of_size = caches[layout.class_of_eights[(100 + 7) / 8]];
    ASSERT_NE(of_size.count, 0u);
    void* const block = of_size.blocks[--of_size.count];
    EXPECT_GE(tn_usable_size(block), 100u);
    EXPECT_LE(tn_usable_size(block), 128u);
    const std::uintptr_t at = tenure::address_of(block);
    const std::uintptr_t segment = at >> layout.segment_shift << layout.segment_shift;
    ASSERT_NE(segment, at);
    const auto* const classes =
        static_cast<const std::uint8_t*>(tenure::pointer_at(segment + layout.classes_of_slices_offset));
    EXPECT_EQ(&caches[classes[(at - segment) >> layout.slice_shift]], &of_size);
    ASSERT_LT(of_size.count, of_size.capacity);
    of_size.blocks[of_size.count++] = block;
    EXPECT_EQ(tn_malloc(100), block);
    tn_free(block);

    EXPECT_EQ(*thread.tag, 0u);
    const std::uint32_t before = tn_tag_begin(tn_tag_named("quick", 5));
    EXPECT_NE(*thread.tag, 0u);
    EXPECT_EQ(static_cast<tn_block_cache*>(
                  static_cast<void*>(static_cast<unsigned char*>(*thread.heap_cache) + layout.caches_offset))[3]
                  .capacity,
              0u)
        << "the cache of a tag takes nothing back";
    tn_tag_end(before);
    EXPECT_EQ(*thread.heap_cache, cache);

    tn_reset_temp();
    void* const scratch = tn_allocate(100, 16, TN_TEMP);
    EXPECT_EQ(thread.temp->cursor, tenure::address_of(scratch) + 112);
    EXPECT_GE(thread.temp->limit, thread.temp->cursor);
    tn_reset_temp();
}

TEST(capi_quick, temp_job_blocks_are_allocated_and_freed_as_the_header_says) {
    tn_quick_layout layout{};
    layout.size = sizeof layout;
    tn_get_quick_layout(&layout);
    if (layout.is_available == 0) GTEST_SKIP() << "checked, or the heap is malloc's";
    tn_quick_thread thread{};
    thread.size = sizeof thread;
    tn_get_quick_thread(&thread);
    void* const before = tn_allocate(40, 16, TN_TEMP_JOB); // opens a chunk
    ASSERT_NE(before, nullptr);
    tn_temp_job_state& state = **thread.temp_job;
    EXPECT_EQ(state.cursor, tenure::address_of(before) - 8 + 48);
    ASSERT_LE(state.cursor + 112, state.limit);

    // As a caller would: 100 bytes.
    const std::uintptr_t at = state.cursor + 8;
    ASSERT_EQ(at % 16, 0u);
    void* const block = tenure::pointer_at(at);
    const std::uint64_t header = state.word | 100;
    std::memcpy(tenure::pointer_at(at - 8), &header, sizeof header);
    const std::uintptr_t chunk = at >> layout.job_chunk_shift << layout.job_chunk_shift;
    auto& live = *static_cast<std::uint8_t*>(tenure::pointer_at(chunk + layout.job_states_offset + (at - chunk) / 16));
    EXPECT_EQ(live, 0u);
    std::atomic_ref(live).store(1, std::memory_order_release);
    state.cursor += 112;

    // The library sees it, and frees it.
    struct seen {
        const void* block;
        std::size_t bytes = 0, count = 0;
    } found{block};
    const auto count = [](void* context, const tenure::temp_job_leak& leak) {
        auto& to = *static_cast<seen*>(context);
        ++to.count;
        if (leak.address == to.block) to.bytes = leak.bytes;
    };
    tenure::temp_job::for_each_live(count, &found);
    EXPECT_EQ(found.bytes, 100u);
    EXPECT_EQ(found.count, 2u);
    EXPECT_TRUE(tenure::temp_job::valid());
    void* const after = tn_allocate(1, 16, TN_TEMP_JOB);
    EXPECT_EQ(after, tenure::pointer_at(at + 112));
    tn_deallocate(block, TN_TEMP_JOB);
    EXPECT_EQ(live, 0u);

    // And the other way round.
    const auto& second =
        *static_cast<std::uint8_t*>(tenure::pointer_at(chunk + layout.job_states_offset + (at + 112 - chunk) / 16));
    EXPECT_EQ(second, 1u);
    std::atomic_ref(const_cast<std::uint8_t&>(second)).store(0, std::memory_order_release);
    tn_deallocate(before, TN_TEMP_JOB);
    found = {block};
    tenure::temp_job::for_each_live(count, &found);
    EXPECT_EQ(found.count, 0u);
    EXPECT_TRUE(tenure::temp_job::valid());
}

TEST(capi_lifetimes, a_warm_up_is_for_valid_lifetimes) {
    for (const tn_lifetime held : {TN_TEMP, TN_TEMP_JOB, TN_PERSISTENT}) EXPECT_EQ(tn_warm_up(10'000, held), 1u);
    EXPECT_EQ(tn_warm_up(10'000, TN_PERSISTENT + 1), 0u);
}

TEST(capi_options, are_listed_read_set_and_refused_by_name) {
    ASSERT_GT(tn_option_count(), 5u);
    for (std::uint32_t index = 0; index < tn_option_count(); ++index) {
        tn_option_info info{};
        info.size = sizeof info;
        ASSERT_EQ(tn_option_at(index, &info), TN_OK);
        EXPECT_EQ(info.size, sizeof info);
        std::uint64_t value = 0;
        EXPECT_EQ(tn_option_get(info.name.data, info.name.length, &value), TN_OK);
        EXPECT_EQ(value, info.value);
        EXPECT_EQ(tn_option_get(info.environment.data, info.environment.length, &value), TN_OK);
    }
    tn_option_info none{};
    none.size = sizeof none;
    EXPECT_EQ(tn_option_at(tn_option_count(), &none), TN_INVALID_ARGUMENT);
    constexpr std::string_view name = "handle_stack_frames";
    std::uint64_t value = 0;
    EXPECT_EQ(tn_option_set(name.data(), name.size(), "5", 1), TN_OK);
    EXPECT_EQ(tn_option_get(name.data(), name.size(), &value), TN_OK);
    EXPECT_EQ(value, 5u);
    EXPECT_EQ(tn_option_set(name.data(), name.size(), "17", 2), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_option_set(name.data(), name.size(), "", 0), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_option_set(name.data(), name.size(), nullptr, 0), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_option_get(name.data(), name.size(), &value), TN_OK);
    EXPECT_EQ(value, 5u);
    EXPECT_EQ(tn_option_set(name.data(), name.size(), "0", 1), TN_OK);
    EXPECT_EQ(tn_option_get("no such option", 14, &value), TN_UNKNOWN_NAME);
    EXPECT_EQ(tn_option_set(nullptr, 0, "1", 1), TN_UNKNOWN_NAME);
}

TEST(capi_options, a_callers_smaller_structure_is_not_written_past_its_end) {
    struct {
        tn_stats stats;
        std::uint64_t behind;
    } small{};
    std::memset(&small, 0xAB, sizeof small);
    small.stats.size = offsetof(tn_stats, peak_bytes);
    tn_get_stats(&small.stats);
    EXPECT_EQ(small.stats.size, offsetof(tn_stats, peak_bytes));
    EXPECT_EQ(small.stats.peak_bytes, 0xABAB'ABAB'ABAB'ABABu);
    EXPECT_EQ(small.behind, 0xABAB'ABAB'ABAB'ABABu);
    EXPECT_NE(small.stats.live_bytes, 0xABAB'ABAB'ABAB'ABABu);
}

TEST(capi_options, statistics_say_what_is_in_memory_and_what_a_profile_has_recorded) {
    const auto now = [] {
        tn_stats stats{};
        stats.size = sizeof stats;
        tn_get_stats(&stats);
        return stats;
    };
    if (now().heap_is_ours == 0) GTEST_SKIP() << "the heap's blocks are malloc's";
    // Small blocks: checked builds place large ones, and one small one in 5,000, outside of the heap's memory.
    constexpr std::size_t block_bytes = 1000, count = 3000;
    const std::uint64_t before = now().sample_count;
    EXPECT_EQ(before, 0u) << "no profile was started";
    ASSERT_EQ(tn_profile_start(1), TN_OK);
    std::vector<void*> blocks(count);
    for (void*& each : blocks) each = std::memset(tn_malloc(block_bytes), 1, block_bytes);
    const tn_stats during = now();
    EXPECT_GE(during.resident_bytes, block_bytes * count / 10 * 9);
    EXPECT_LE(during.resident_bytes, during.reserved_bytes);
    EXPECT_LE(during.cached_bytes, during.reserved_bytes);
    EXPECT_GE(during.sample_count, 1u);
    for (void* const each : blocks) tn_free(each);
    EXPECT_LT(now().sample_count, during.sample_count);
    EXPECT_EQ(tn_profile_stop(), TN_OK);
}

TEST(capi_tags, belong_to_the_thread_until_they_are_popped) {
    const support::heard_reports heard; // checked builds report what is refused
    const std::uint32_t tag = tn_tag_named("of the C interface", 18);
    EXPECT_NE(tag, 0u);
    EXPECT_EQ(tn_tag_named("of the C interface", 18), tag);
    EXPECT_EQ(tn_tag_named("", 0), 0u);
    EXPECT_GE(tn_tag_count(), tag);
    tn_text name{};
    tn_tag_name(tag, &name);
    EXPECT_EQ(std::string_view(name.data, name.length), "of the C interface");
    tn_tag_name(UINT32_MAX, &name);
    EXPECT_EQ(std::string_view(name.data, name.length), "(unknown tag)");
    const std::uint32_t before = tn_tag_begin(tag);
    void* const block = tn_malloc(1000);
    tn_tag_end(before);
    tn_tag_usage usage{};
    usage.size = sizeof usage;
    tn_tag_get_usage(tag, &usage);
    if (!tenure::passthrough_enabled(tenure::part::heap)) {
        EXPECT_EQ(usage.persistent_count, 1u);
        EXPECT_GE(usage.persistent_bytes, 1000u);
    }
    tn_free(block);
    tn_quick_thread thread{};
    thread.size = sizeof thread;
    tn_get_quick_thread(&thread);
    EXPECT_EQ(tn_tag_begin(UINT32_MAX), before);
    EXPECT_EQ(*thread.tag, 0u) << "a number that is no tag's counts as none";
    tn_tag_end(before);
}

struct heard {
    std::string text;
    std::uint32_t kind = 99;
};

TEST(capi_reports, go_to_the_callers_handler_until_it_is_taken_away) {
    heard last;
    tn_set_report_handler(
        [](void* context, std::uint32_t kind, const char* text, std::size_t length) {
            *static_cast<heard*>(context) = {std::string(text, length), kind};
        },
        &last);
    tenure::report(tenure::report_kind::notice, "something to know");
    EXPECT_EQ(last.text, "something to know");
    EXPECT_EQ(last.kind, TN_REPORT_NOTICE);
    if constexpr (is_checked) {
        int local = 0;
        tn_free(&local);
        EXPECT_EQ(last.kind, TN_REPORT_MISUSE);
    }
    tn_set_report_handler(nullptr, nullptr);
}

}
