// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinity_usage.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "affinity/fixture.hpp"

namespace {

using namespace affinity_tests;
using tenure::affinity_usage;
using tenure::page_layout;
using tenure::size_on_free;
using tenure::usage_form;

using affinity_usages = groups;

std::string written(const affinity_usage& usage, usage_form form) {
    std::string text;
    const auto append = [](void* to, std::string_view piece) { static_cast<std::string*>(to)->append(piece); };
    tenure::write_usage(usage, form, append, &text);
    return text;
}

/// One object of JSON with a text as its name and numbers else; empty when it is anything else.
std::map<std::string, std::size_t> numbers_of(const std::string& json, std::string& name) {
    std::map<std::string, std::size_t> found;
    std::size_t at = 0;
    const auto skip = [&](std::string_view wanted) {
        if (json.compare(at, wanted.size(), wanted) != 0) return false;
        at += wanted.size();
        return true;
    };
    const auto read_text = [&](std::string& text) {
        if (!skip("\"")) return false;
        for (; at < json.size() && json[at] != '"'; ++at) {
            if (json[at] == '\\') ++at;
            text += json[at];
        }
        return skip("\"");
    };
    if (!skip("{\"name\": ") || !read_text(name)) return {};
    while (skip(", ")) {
        std::string key;
        if (!read_text(key) || !skip(": ") || at >= json.size() || std::isdigit(json[at]) == 0) return {};
        std::size_t digits = 0;
        found[key] = std::stoull(json.substr(at), &digits);
        at += digits;
    }
    return skip("}\n") && at == json.size() ? found : std::map<std::string, std::size_t>{};
}

TEST_F(affinity_usages, figures_say_what_a_group_holds) {
    affinity_group group("a \"level\"", {.alignment = 8}, source_);
    EXPECT_EQ(group.name(), "a \"level\"");
    std::vector<unsigned char*> objects = take_many(group, 40'000, within(64));
    const affinity_usage full = group.usage();
    EXPECT_EQ(full.name, "a \"level\"");
    EXPECT_EQ(full.block_count, 2u);
    EXPECT_EQ(full.total_bytes, 4 * mebibyte);
    EXPECT_EQ(full.live_count, 40'000u);
    EXPECT_EQ(full.reserved_bytes, 40'000u * 64);
    EXPECT_EQ(full.reserved_bytes + full.available_bytes + full.bookkeeping_bytes, full.total_bytes);
    EXPECT_EQ(full.scattered_bytes, 0u);
    EXPECT_EQ(full.fragmentation(), 0);
    EXPECT_EQ(full.large_count, 0u);
    for (std::size_t index = 0; index < 40'000; index += 2) group.deallocate(objects[index], within(64));
    void* const large = group.allocate(20'000);
    const affinity_usage half = group.usage();
    EXPECT_EQ(half.live_count, 20'001u);
    EXPECT_EQ(half.reserved_bytes, 20'000u * 64);
    EXPECT_EQ(half.total_bytes, full.total_bytes);
    EXPECT_EQ(half.bookkeeping_bytes, full.bookkeeping_bytes);
    EXPECT_EQ(half.available_bytes, full.available_bytes + 20'000u * 64);
    EXPECT_EQ(half.large_count, 1u);
    EXPECT_GE(half.large_bytes, 20'000u);
    EXPECT_GE(half.free_bytes, 20'000u * 64) << "all of it lies between objects";
    EXPECT_GT(half.fragmentation(), 0.9) << "in pieces of 64 bytes";
    EXPECT_LE(half.fragmentation(), 1);
    group.deallocate(large);
    for (std::size_t index = 1; index < 40'000; index += 2) group.deallocate(objects[index], within(64));
    const affinity_usage none = group.usage();
    EXPECT_EQ(none.live_count, 0u);
    EXPECT_EQ(none.reserved_bytes, 0u);
    EXPECT_EQ(none.free_bytes, 0u) << "pages without an object are not between objects";
    EXPECT_EQ(none.largest_free_bytes, 64 * kibibyte);
    EXPECT_EQ(none.large_count, 0u);
}

TEST_F(affinity_usages, the_longest_free_run_is_found_in_any_place) {
    affinity_group group("run", {.alignment = 8, .block_bytes = 64 * kibibyte}, source_);
    std::vector<unsigned char*> objects;
    while (source_.live_blocks() < 2) objects.push_back(take(group, 128));
    std::size_t expected = 0;
    for (std::size_t length : {3u, 7u, 5u}) {
        for (std::size_t each = 0; each < length; ++each) group.deallocate(objects[40 * length + each], 128);
        expected = std::max<std::size_t>(expected, length * 128);
    }
    unsigned char* const last = objects.back(); // the second block: hide its rest
    static_cast<void>(last);
    while (source_.live_blocks() < 3) objects.push_back(take(group, 16'000));
    const affinity_usage usage = group.usage();
    EXPECT_GE(usage.largest_free_bytes, expected);
    EXPECT_EQ(usage.reserved_bytes + usage.available_bytes + usage.bookkeeping_bytes, usage.total_bytes);
}

TEST_F(affinity_usages, are_told_to_people_and_as_json) {
    affinity_group group("a \"level\"", {}, source_);
    static_cast<void>(take_many(group, 1000, within(56)));
    static_cast<void>(group.allocate(20'000));
    const affinity_usage usage = group.usage();
    std::string name;
    const std::string json = written(usage, usage_form::json);
    const std::map<std::string, std::size_t> seen = numbers_of(json, name);
    EXPECT_EQ(name, "a \"level\"");
    const std::map<std::string, std::size_t> expected{{"block_count", usage.block_count},
                                                      {"total_bytes", usage.total_bytes},
                                                      {"live_count", 1001},
                                                      {"reserved_bytes", 56'000},
                                                      {"available_bytes", usage.available_bytes},
                                                      {"bookkeeping_bytes", usage.bookkeeping_bytes},
                                                      {"largest_free_bytes", usage.largest_free_bytes},
                                                      {"large_count", 1},
                                                      {"large_bytes", usage.large_bytes},
                                                      {"free_bytes", usage.free_bytes},
                                                      {"scattered_bytes", usage.scattered_bytes}};
    EXPECT_EQ(seen, expected) << json;
    const std::string text = written(usage, usage_form::text);
    EXPECT_EQ(text.find("affinity group a \"level\"\n"), 0u) << text;
    EXPECT_NE(text.find("  objects: 1001\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  in use in blocks: 54.6 KiB\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  blocks: 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  blocks in all: 2.0 MiB\n"), std::string::npos) << text;
    EXPECT_EQ(text.find('{'), std::string::npos);
}

TEST_F(affinity_usages, statistics_count_objects_and_blocks) {
    affinity_group group("counted", {.alignment = 8}, source_);
    EXPECT_EQ(group.stats().reserved_bytes, 0u);
    const std::vector<unsigned char*> objects = take_many(group, 10'000, within(56));
    const tenure::allocator_stats full = group.stats();
    EXPECT_EQ(full.live_count, 10'000u);
    EXPECT_EQ(full.live_bytes, 560'000u);
    EXPECT_GE(full.peak_bytes, 560'000u);
    EXPECT_LE(full.peak_bytes, 560'000u + 128 * kibibyte);
    EXPECT_EQ(full.reserved_bytes, 2 * mebibyte);
    EXPECT_EQ(full.source_blocks, 1u);
    for (std::size_t index = 0; index < 5000; ++index) group.deallocate(objects[index], within(56));
    EXPECT_EQ(group.stats().live_count, 5000u);
    EXPECT_EQ(group.stats().live_bytes, 280'000u);
    EXPECT_EQ(group.stats().peak_bytes, full.peak_bytes);
    group.clear();
    EXPECT_EQ(group.stats().live_count, 0u);
    EXPECT_EQ(group.stats().live_bytes, 0u);
    EXPECT_EQ(group.stats().peak_bytes, full.peak_bytes);
    static_cast<void>(take(group, 56));
    EXPECT_EQ(group.stats().peak_bytes, full.peak_bytes) << "it was the most, and stays it";
    EXPECT_EQ(group.stats().source_blocks, source_.live_blocks());
}

/// What blocks take beyond the objects when they are as full as they get: bytes for each object.
double overhead(affinity_group& group, const tenure::counting_source& source, std::size_t bytes) {
    std::size_t count = 0;
    while (source.live_blocks() < 4) count += std::size_t{group.allocate(bytes) != nullptr};
    --count; // the first of the fourth block
    return (static_cast<double>(3 * group.block_bytes()) - static_cast<double>(count * bytes)) /
           static_cast<double>(count);
}

TEST_F(affinity_usages, where_frees_name_the_size_an_object_costs_less_than_a_byte) {
    affinity_group group("given", {.alignment = 8, .sizes = size_on_free::required}, source_);
    const double each = overhead(group, source_, 56);
    const tenure::affinity_usage usage = group.usage();
    if (!tenure::checks::caller) {
        EXPECT_LE(each, 1);
        EXPECT_LT(usage.bookkeeping_bytes, usage.total_bytes / 50) << "one bit for 8 bytes";
    }
    affinity_group found("found", {.alignment = 8, .sizes = size_on_free::optional}, source_);
    static_cast<void>(take(found, 8));
    const auto head_of = [](const tenure::affinity_usage& seen) { return seen.bookkeeping_bytes / seen.block_count; };
    if (!tenure::checks::caller) {
        EXPECT_GE(head_of(found.usage()), head_of(usage) + 2 * mebibyte / 64) << "no bits for begins are there";
    }
}

TEST_F(affinity_usages, where_frees_need_not_an_object_costs_four_bytes_at_most) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << has_guards;
    for (std::size_t bytes : {8u, 24u, 56u, 128u, 256u}) {
        affinity_group group("found", {.alignment = 8, .sizes = size_on_free::optional}, source_);
        const double each = overhead(group, source_, bytes);
        // Of the two bits for 8 bytes one is touched where something was freed, so here it takes only addresses.
        const double untouched = static_cast<double>(bytes) / 64;
        const double head = static_cast<double>(bytes) / 500 + 0.05;
        EXPECT_LE(each - untouched, 4 + head) << bytes;
        EXPECT_GE(each, static_cast<double>(bytes) / 64) << "or nothing was counted";
    }
}

TEST_F(affinity_usages, sizes_are_rounded_to_the_alignment_and_no_more) {
    for (std::size_t alignment : {8u, 16u, 64u}) {
        for (std::size_t bytes : {1u, 8u, 20u, 56u, 100u, 257u, 511u, 512u, 513u, 3000u, 16'384u}) {
            affinity_group group("rounded", {.alignment = alignment}, source_);
            static_cast<void>(take_many(group, 50, bytes));
            const std::size_t whole = tenure::align_up(bytes + tenure::detail::tail_guard_bytes, alignment);
            EXPECT_EQ(group.usage().reserved_bytes, 50 * std::min(whole, affinity_group::max_in_block_bytes()))
                << bytes;
        }
    }
}

}
