// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What C may get wrong: numbers out of their range, sizes that were forgotten, and handles that are none.

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/config.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/tenure.h>

#include "capi/fixture.hpp"
#include "support/own_path.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"
#include "support/units.hpp"

namespace {

using capi::expect_reported;
using support::gibibyte;

[[nodiscard]] tn_block_source of_malloc() {
    tn_block_source source{};
    source.size = sizeof source;
    source.acquire = [](void*, std::size_t bytes, std::size_t alignment) {
        return capi::aligned_block(bytes, alignment);
    };
    source.release = [](void*, void* block, std::size_t) { tenure::host::free_aligned(block); };
    return source;
}

TEST(capi_refusals, a_group_that_would_refuse_everything_is_not_made) {
    const support::heard_reports heard; // checked builds report what is refused
    const auto is_made = [](std::uint64_t alignment, std::uint64_t block_bytes) {
        tn_affinity_options options{};
        options.size = sizeof options;
        options.alignment = alignment;
        options.block_bytes = block_bytes;
        tn_affinity_group* const group = tn_affinity_create(&options);
        const bool may_be_refused = block_bytes == gibibyte; // where addresses are limited
        const bool is_served = group != nullptr && (may_be_refused || tn_affinity_allocate(group, 10, 0) != nullptr);
        EXPECT_EQ(group != nullptr, is_served) << alignment << " " << block_bytes;
        tn_affinity_destroy(group);
        return group != nullptr;
    };
    for (const std::uint64_t alignment : {1u, 2u, 7u, 24u, 2048u}) EXPECT_FALSE(is_made(alignment, 0));
    EXPECT_FALSE(is_made(std::uint64_t{1} << 40, 0));
    for (const std::uint64_t bytes : {std::uint64_t{1000}, std::uint64_t{32'768}, std::uint64_t{100'000}, 2 * gibibyte})
        EXPECT_FALSE(is_made(0, bytes));
    EXPECT_FALSE(is_made(0, std::uint64_t{1} << 40));
    for (const auto& [alignment, bytes] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
             {0, 0}, {4, 65'536}, {8, 65'536}, {1024, 65'536}, {8, gibibyte}, {1024, 1 << 21}})
        EXPECT_TRUE(is_made(alignment, bytes));
}

TEST(capi_refusals, a_group_for_any_thread_is_not_made_on_a_source_for_one) {
    const support::heard_reports heard; // checked builds report what is refused
    tn_block_source source = of_malloc();
    tn_affinity_options options{};
    options.size = sizeof options;
    options.any_thread = 1;
    options.source = &source;
    EXPECT_EQ(tn_affinity_create(&options), nullptr);
    options.any_thread = 0;
    tn_affinity_group* const group = tn_affinity_create(&options);
    EXPECT_NE(group, nullptr);
    tn_affinity_destroy(group);
}

TEST(capi_refusals, a_pool_that_would_refuse_everything_is_not_made) {
    const support::heard_reports heard; // checked builds report what is refused
    constexpr std::size_t most = std::size_t{256} << 20;
    for (const std::size_t alignment : {std::size_t{1} << 63, std::size_t{1} << 40, 2 * most}) {
        EXPECT_EQ(tn_pool_create(16, alignment, nullptr), nullptr);
        EXPECT_EQ(tn_shared_pool_create(16, alignment, nullptr), nullptr);
    }
    tn_pool* const pool = tn_pool_create(16, std::size_t{1} << 20, nullptr);
    ASSERT_NE(pool, nullptr);
    EXPECT_NE(tn_pool_allocate(pool), nullptr);
    tn_pool_destroy(pool);
}

TEST(capi_refusals, an_arena_whose_first_chunk_cannot_be_is_not_made) {
    const support::heard_reports heard; // checked builds report what is refused
    EXPECT_EQ(tn_arena_create(SIZE_MAX, nullptr), nullptr);
    EXPECT_EQ(tn_arena_create(SIZE_MAX / 2 + 1, nullptr), nullptr);
    tn_arena* const arena = tn_arena_create(SIZE_MAX / 2, nullptr); // more than there is: chunks are what is asked for
    ASSERT_NE(arena, nullptr);
    EXPECT_NE(tn_arena_allocate(arena, 100, 0), nullptr);
    tn_arena_destroy(arena);
}

TEST(capi_refusals, a_range_of_no_size_has_one) {
    tn_offset_allocator* const offsets = tn_offset_create(10);
    tn_offset_range range{};
    ASSERT_EQ(tn_offset_allocate(offsets, 0, 0, &range), TN_OK);
    EXPECT_EQ(tn_offset_size_of(offsets, range), 1u);
    tn_offset_deallocate(offsets, range);
    tn_offset_destroy(offsets);
}

TEST(capi_refusals, options_whose_size_was_forgotten_are_not_taken_for_the_defaults) {
    const support::heard_reports heard;
    tn_heap_options heap{};
    tn_affinity_options group{};
    tn_block_source source = of_malloc();
    for (const std::uint32_t size : {0u, 4u, 24u}) {
        heap.size = group.size = source.size = size;
        EXPECT_EQ(tn_heap_create(&heap), nullptr);
        EXPECT_EQ(tn_affinity_create(&group), nullptr);
        EXPECT_EQ(tn_arena_create(0, &source), nullptr);
        EXPECT_EQ(tn_pool_create(16, 0, &source), nullptr);
        EXPECT_EQ(tn_shared_pool_create(16, 0, &source), nullptr);
    }
    expect_reported(heard, 15);
    heap.size = sizeof heap + 100; // of a later version
    tn_heap* const made = tn_heap_create(&heap);
    EXPECT_NE(made, nullptr);
    tn_heap_destroy(made);
}

TEST(capi_refusals, figures_are_not_filled_into_a_structure_without_a_size) {
    const support::heard_reports heard;
    tn_stats stats{};
    stats.live_count = 77;
    tn_get_stats(&stats);
    EXPECT_EQ(stats.live_count, 77u);
    tn_option_info info{};
    EXPECT_EQ(tn_option_at(0, &info), TN_INVALID_ARGUMENT);
    expect_reported(heard, 2);
}

TEST(capi_refusals, a_number_that_is_no_tag_is_none) {
    const support::heard_reports heard; // checked builds report what is refused
    const std::uint32_t tag = tn_tag_named("of a refusal", 12);
    const std::uint32_t before = tn_tag_begin(tag);
    void* const block = tn_malloc(100);
    tn_tag_usage usage{};
    usage.size = sizeof usage;
    tn_tag_get_usage(tag + 65'536, &usage);
    EXPECT_EQ(usage.persistent_count, 0u);
    tn_tag_get_usage(UINT32_MAX, &usage);
    EXPECT_EQ(usage.persistent_count, 0u);
    tn_tag_get_usage(tag, &usage);
    EXPECT_EQ(usage.persistent_count, tenure::passthrough_enabled(tenure::part::heap) ? 0u : 1u);
    tn_free(block);
    for (const std::uint32_t none : {60'000u, 65'536u + tag, UINT32_MAX}) {
        tn_tag_begin(tag);
        tn_tag_end(none);
        EXPECT_EQ(tn_tag_begin(0), 0u) << none;
    }
    tn_tag_end(before);
}

TEST(capi_refusals, tag_scopes_that_end_out_of_order_are_reported_once) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const std::uint32_t outer_tag = tn_tag_named("out of order in C, outer", 24);
    const std::uint32_t inner_tag = tn_tag_named("out of order in C, inner", 24);
    const support::heard_reports heard;
    const auto in_order = [&] {
        const std::uint32_t outer = tn_tag_begin(outer_tag);
        const std::uint32_t inner = tn_tag_begin(inner_tag);
        tn_tag_end(inner);
        EXPECT_EQ(tenure::current_tag().id(), outer_tag);
        tn_tag_end(outer);
    };
    in_order();
    EXPECT_EQ(heard.count(), 0u) << heard.last();
    const std::uint32_t outer = tn_tag_begin(outer_tag);
    const std::uint32_t inner = tn_tag_begin(inner_tag);
    tn_tag_end(outer);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("tn_tag_end ended a scope before the scopes inside it"), std::string::npos)
        << heard.last();
    EXPECT_EQ(tenure::current_tag().id(), outer);
    tn_tag_end(inner);
    EXPECT_EQ(heard.count(), 1u) << heard.last();
    EXPECT_EQ(tenure::current_tag().id(), outer) << "a scope that has ended sets no tag";
    in_order();
    EXPECT_EQ(heard.count(), 1u) << heard.last();
}

TEST(capi_refusals, a_tag_scope_of_another_thread_or_of_none_is_not_ended) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const std::uint32_t tag = tn_tag_named("of another thread in C", 22);
    const support::heard_reports heard;
    std::uint32_t before = tn_tag_begin(tag);
    support::on_fresh_thread([&] { tn_tag_end(before); });
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("tn_tag_end was called with before = 0, which no open scope of this thread began with"),
              std::string::npos)
        << heard.last();
    tn_tag_end(before);
    EXPECT_EQ(heard.count(), 1u) << heard.last();
    tn_tag_end(tag);
    EXPECT_EQ(heard.count(), 2u);
    EXPECT_EQ(tenure::current_tag().id(), 0u);
}

TEST(capi_refusals, tag_scopes_of_c_and_of_cpp_are_counted_together) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const std::uint32_t tag = tn_tag_named("in both languages", 17);
    const support::heard_reports heard;
    {
        const tenure::tag_scope around("around C");
        const std::uint32_t before = tn_tag_begin(tag);
        { const tenure::tag_scope inside("inside C"); }
        tn_tag_end(before);
    }
    EXPECT_EQ(heard.count(), 0u) << heard.last();
    std::uint32_t before = tn_tag_begin(tag);
    auto inside = std::make_unique<tenure::tag_scope>("inside C");
    tn_tag_end(before);
    EXPECT_EQ(heard.count(), 1u);
    inside.reset();
    EXPECT_EQ(heard.count(), 1u) << heard.last();
    auto around = std::make_unique<tenure::tag_scope>("around C");
    before = tn_tag_begin(tag);
    around.reset();
    EXPECT_EQ(heard.count(), 2u);
    tn_tag_end(before);
    EXPECT_EQ(heard.count(), 2u) << heard.last();
    EXPECT_EQ(tenure::current_tag().id(), 0u);
}

TEST(capi_refusals, of_many_open_tag_scopes_the_outer_ones_may_end_in_any_order) {
    const std::uint32_t tag = tn_tag_named("many scopes in C", 16);
    const support::heard_reports heard;
    std::vector<std::uint32_t> open;
    for (int count = 0; count < 100; ++count) open.push_back(tn_tag_begin(count % 3 == 0 ? 0 : tag));
    while (!open.empty()) {
        tn_tag_end(open.back());
        open.pop_back();
    }
    const tenure::tag_scope around("many scopes in C, around");
    tn_tag_end(tn_tag_begin(tag));
    EXPECT_EQ(heard.count(), 0u) << heard.last();
    EXPECT_EQ(tenure::current_tag().name(), "many scopes in C, around");
}

TEST(capi_refusals, a_free_with_a_lifetime_that_is_none_is_reported) {
    const support::heard_reports heard;
    void* const block = tn_allocate(100, 0, TN_PERSISTENT);
    tn_deallocate(block, TN_PERSISTENT + 1);
    tn_deallocate_sized(block, 100, UINT32_MAX);
    tn_deallocate(nullptr, UINT32_MAX);
    expect_reported(heard, 2);
    tn_deallocate(block, TN_PERSISTENT);
    expect_reported(heard, 2);
}

TEST(capi_refusals, four_numbers_that_are_no_handle_are_stale) {
    char memory = 0;
    tn_handle made{};
    ASSERT_EQ(tn_handle_add(&memory, 1, nullptr, "C test", &made), TN_OK);
    const std::vector<tn_handle> none{{&memory, 1, 0, 0},
                                      {&memory, 1, 0, 1},
                                      {&memory, 1, 0, UINT32_MAX - 1},
                                      {&memory, 1, 0x7FFF'FFFF, 1},
                                      {&memory, 1, UINT32_MAX, UINT32_MAX},
                                      {&memory, 1, made.entry, made.generation + 1},
                                      {&memory, 1, made.entry + 100'000, 1}};
    for (const tn_handle& each : none) {
        std::uint32_t holders = 0;
        EXPECT_EQ(tn_handle_is_live(&each), 0u) << each.entry << " " << each.generation;
        EXPECT_EQ(tn_handle_acquire(&each), TN_STALE_HANDLE);
        EXPECT_EQ(tn_handle_release(&each), TN_STALE_HANDLE);
        EXPECT_EQ(tn_handle_deallocate(&each, &holders), TN_STALE_HANDLE);
        EXPECT_EQ(tn_handle_holders(&each), 0u);
    }
    EXPECT_EQ(tn_handle_deallocate(&made, nullptr), TN_OK);
}

TEST(capi_refusals, a_handle_without_a_kind_is_listed_as_memory) {
    const std::string path = support::own_path("kindless");
    char memory = 0;
    tn_handle made[3] = {};
    ASSERT_EQ(tn_handle_add(&memory, 1, nullptr, nullptr, &made[0]), TN_OK);
    ASSERT_EQ(tn_handle_map_file(path.c_str(), 100, nullptr, &made[1]), TN_OK);
    ASSERT_EQ(tn_handle_allocate(100, 0, 0, nullptr, &made[2]), TN_OK);
    struct seen {
        const tn_handle* made;
        int count;
    } found{made, 0};
    tn_handle_for_each(
        [](void* context, const tn_handle_info* info) {
            auto& to = *static_cast<seen*>(context);
            for (int index = 0; index < 3; ++index) {
                if (info->handle.entry != to.made[index].entry) continue;
                EXPECT_STREQ(info->kind, "memory");
                ++to.count;
            }
        },
        &found);
    EXPECT_EQ(found.count, 3);
    for (const tn_handle& each : made) EXPECT_EQ(tn_handle_deallocate(&each, nullptr), TN_OK);
    std::filesystem::remove(path);
}

TEST(capi_refusals, a_file_that_cannot_be_mapped_is_as_it_was_and_errno_says_why) {
    const std::string path = support::own_path("refused");
    constexpr std::uint64_t too_many = std::uint64_t{1} << 50; // of addresses, or of what a file may have
    tn_handle made{};
    EXPECT_NE(tn_handle_map_file(path.c_str(), too_many, "C test", &made), TN_OK);
    EXPECT_FALSE(std::filesystem::exists(path)) << "a new file is gone again";
    tn_handle kept{};
    ASSERT_EQ(tn_handle_map_file(path.c_str(), 1000, "C test", &kept), TN_OK);
    EXPECT_NE(tn_handle_map_file(path.c_str(), too_many, "C test", &made), TN_OK);
    EXPECT_EQ(std::filesystem::file_size(path), 1000u) << "one that was there has its size";
    EXPECT_EQ(tn_handle_deallocate(&kept, nullptr), TN_OK);
    for (const std::uint64_t bytes : {std::uint64_t{1} << 63, UINT64_MAX})
        EXPECT_EQ(tn_handle_map_file(path.c_str(), bytes, "C test", &made), TN_OUT_OF_MEMORY);
    EXPECT_EQ(std::filesystem::file_size(path), 1000u);
    std::filesystem::remove(path);
    errno = 0;
    EXPECT_EQ(tn_handle_map_file("/no such folder/x", 10, "C test", &made), TN_FILE_ERROR);
    EXPECT_EQ(errno, ENOENT);
}

TEST(capi_refusals, a_folder_and_a_device_cannot_be_mapped_and_errno_says_why) {
    tn_handle made{};
    EXPECT_EQ(tn_handle_map_file("/", 10, "C test", &made), TN_FILE_ERROR);
    EXPECT_EQ(errno, EISDIR);
    EXPECT_EQ(tn_handle_map_file("/dev/null", 10, "C test", &made), TN_FILE_ERROR);
    EXPECT_EQ(errno, ENODEV);
}

}
