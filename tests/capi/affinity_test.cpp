// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// tenure.h: the ready-made affinity groups, and groups that are configured anew.

#include <tenure/tenure.h>

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <tenure/affinity/affinities.hpp>
#include <tenure/base/align.hpp>
#include <tenure/base/options.hpp>
#include <tenure/engine/tail_guard.hpp>

#include "capi/fixture.hpp"
#include "support/reports.hpp"

namespace {

using capi::counted_memory;
using capi::is_passthrough;

[[nodiscard]] tn_affinity_options no_options() {
    tn_affinity_options options{};
    options.size = sizeof options;
    return options;
}

/// The distance of two objects that are allocated one after the other. Frees them, and returns the group's memory.
[[nodiscard]] std::size_t stride_of(tn_affinity_group* group, std::size_t bytes) {
    void* const first = tn_affinity_allocate(group, bytes, 0);
    void* const second = tn_affinity_allocate(group, bytes, 0);
    const std::size_t stride = tenure::address_of(second) - tenure::address_of(first);
    tn_affinity_deallocate_sized(group, second, bytes, 0);
    tn_affinity_deallocate_sized(group, first, bytes, 0);
    static_cast<void>(tn_affinity_trim(group));
    return stride;
}

/// Whether the mapping of an address asks for huge pages.
[[nodiscard]] bool asks_for_huge_pages(const void* at) {
    std::ifstream map("/proc/self/smaps");
    bool is_here = false;
    for (std::string line; std::getline(map, line);) {
        unsigned long long begin = 0, end = 0;
        if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2)
            is_here = tenure::address_of(at) >= begin && tenure::address_of(at) < end;
        if (is_here && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
    }
    return false;
}

TEST(capi_ready_made, groups_are_those_of_affinities) {
    const support::heard_reports heard; // checked builds report what is refused
    const struct {
        tn_ready_made which;
        tenure::affinity_group& group;
    } all[] = {{TN_AFFINITY_OBJECTS, tenure::affinities::objects()},
               {TN_AFFINITY_DATA, tenure::affinities::data()},
               {TN_AFFINITY_NODES, tenure::affinities::nodes()},
               {TN_AFFINITY_PHYSICS, tenure::affinities::physics()}};
    for (const auto& each : all) {
        tn_affinity_group* const group = tn_affinity_ready_made(each.which);
        ASSERT_NE(group, nullptr);
        EXPECT_EQ(tn_affinity_ready_made(each.which), group);
        void* const object = tn_affinity_allocate(group, 40, 0);
        EXPECT_TRUE(each.group.owns(object));
        tn_affinity_deallocate(group, object);
        EXPECT_EQ(each.group.size(), 0u);
    }
    EXPECT_EQ(tn_affinity_ready_made(4), nullptr);
    EXPECT_EQ(tn_affinity_ready_made(UINT32_MAX), nullptr);
}

TEST(capi_ready_made, groups_are_not_destroyed) {
    tn_affinity_group* const group = tn_affinity_ready_made(TN_AFFINITY_NODES);
    void* const object = tn_affinity_allocate(group, 40, 0);
    {
        const support::heard_reports heard;
        tn_affinity_destroy(group);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    }
    EXPECT_TRUE(tenure::affinities::nodes().owns(object));
    tn_affinity_deallocate(group, object);
    tn_affinity_destroy(nullptr);
}

TEST(capi_ready_made, groups_are_configured_before_their_first_object) {
    if (is_passthrough()) GTEST_SKIP() << "malloc has no options";
    tn_affinity_group* const group = tn_affinity_ready_made(TN_AFFINITY_PHYSICS);
    static_cast<void>(tn_affinity_trim(group));
    constexpr std::size_t guard = tenure::detail::tail_guard_bytes; // behind each object of checked builds
    EXPECT_EQ(stride_of(group, 12), 16u + guard);
    tn_affinity_options options = no_options();
    options.alignment = 4;
    options.block_bytes = std::uint64_t{64} << 10;
    ASSERT_EQ(tn_affinity_configure(group, &options), TN_OK);
    EXPECT_EQ(stride_of(group, 12), 12u + guard);
    EXPECT_EQ(tenure::affinities::physics().block_bytes(), std::size_t{64} << 10);

    void* const object = tn_affinity_allocate(group, 12, 0);
    EXPECT_EQ(tn_affinity_configure(group, nullptr), TN_STILL_HELD) << "a status, without a report";
    tn_affinity_deallocate(group, object);
    EXPECT_EQ(tn_affinity_configure(group, nullptr), TN_STILL_HELD) << "an empty block is one";
    static_cast<void>(tn_affinity_trim(group));
    options.alignment = 2;
    EXPECT_EQ(tn_affinity_configure(group, &options), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tenure::affinities::physics().alignment(), 4u);
    EXPECT_EQ(tn_affinity_configure(group, nullptr), TN_OK);
    EXPECT_EQ(tenure::affinities::physics().alignment(), 16u) << "the group's own default";
    EXPECT_EQ(tenure::affinities::physics().block_bytes(), std::size_t{2} << 20) << "the same";
    EXPECT_EQ(stride_of(group, 12), 16u + guard);
}

TEST(capi_configure, a_group_tells_whether_it_requires_sizes) {
    tn_affinity_group* const ready_made = tn_affinity_ready_made(TN_AFFINITY_NODES);
    EXPECT_EQ(tn_affinity_sizes_required(ready_made) != 0,
              tenure::option_value(tenure::option::affinity_size_required) != 0);
    tn_affinity_options options = no_options();
    options.sizes_required = 1;
    tn_affinity_group* const group = tn_affinity_create(&options);
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(tn_affinity_sizes_required(group), 1u);
    ASSERT_EQ(tn_affinity_configure(group, nullptr), TN_OK);
    EXPECT_EQ(tn_affinity_sizes_required(group), 0u);
    tn_affinity_destroy(group);
}

TEST(capi_configure, a_group_moves_from_one_source_to_another) {
    if (is_passthrough()) GTEST_SKIP() << "malloc has no source";
    counted_memory first, second;
    const tn_block_source of_first = first.source(1), of_second = second.source(1), for_one = first.source(0);
    tn_affinity_options options = no_options();
    options.any_thread = 1;
    options.source = &of_first;
    tn_affinity_group* const group = tn_affinity_create(&options);
    ASSERT_NE(group, nullptr);
    const auto blocks_of = [&](counted_memory& memory) {
        void* const object = tn_affinity_allocate(group, 12, 0);
        void* const large = tn_affinity_allocate(group, 100'000, 0);
        const std::size_t blocks = memory.live;
        tn_affinity_deallocate(group, object);
        tn_affinity_deallocate(group, large);
        static_cast<void>(tn_affinity_trim(group));
        return blocks;
    };
    EXPECT_GE(blocks_of(first), 2u);
    options.source = &of_second;
    ASSERT_EQ(tn_affinity_configure(group, &options), TN_OK);
    EXPECT_EQ(first.live, 0u);
    EXPECT_GE(blocks_of(second), 2u);
    options.source = &for_one;
    EXPECT_EQ(tn_affinity_configure(group, &options), TN_INVALID_ARGUMENT);
    options.any_thread = 0;
    EXPECT_EQ(tn_affinity_configure(group, &options), TN_INVALID_ARGUMENT) << "the group is still for any thread";
    EXPECT_GE(blocks_of(second), 2u);
    options.source = &of_first;
    ASSERT_EQ(tn_affinity_configure(group, &options), TN_OK);
    EXPECT_GE(blocks_of(first), 2u);
    tn_affinity_destroy(group);
    EXPECT_EQ(first.live + second.live, 0u);
}

TEST(capi_configure, options_of_the_first_version_have_no_huge_pages) {
    const support::heard_reports heard; // checked builds report what is refused
    tn_affinity_options options = no_options();
    options.size = offsetof(tn_affinity_options, huge_pages);
    options.huge_pages = 1;
    counted_memory memory;
    const tn_block_source source = memory.source(1);
    options.source = &source;
    tn_affinity_group* const group = tn_affinity_create(&options);
    EXPECT_NE(group, nullptr);
    tn_affinity_destroy(group);
    options.size = sizeof options;
    EXPECT_EQ(tn_affinity_create(&options), nullptr) << "huge pages of a source of the caller's";
}

TEST(capi_configure, huge_pages_are_asked_for) {
    if (is_passthrough()) GTEST_SKIP() << "malloc has none";
    tn_affinity_options options = no_options();
    options.huge_pages = 1;
    tn_affinity_group* const made = tn_affinity_create(&options);
    tn_affinity_group* const ready = tn_affinity_ready_made(TN_AFFINITY_PHYSICS);
    static_cast<void>(tn_affinity_trim(ready));
    ASSERT_EQ(tn_affinity_configure(ready, &options), TN_OK);
    for (tn_affinity_group* const group : {made, ready}) {
        ASSERT_NE(group, nullptr);
        void* const object = tn_affinity_allocate(group, 40, 0);
        ASSERT_NE(object, nullptr);
        EXPECT_TRUE(asks_for_huge_pages(object) || ::access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0);
        tn_affinity_deallocate(group, object);
        static_cast<void>(tn_affinity_trim(group));
    }
    EXPECT_EQ(tn_affinity_configure(ready, nullptr), TN_OK);
    tn_affinity_destroy(made);
}

}
