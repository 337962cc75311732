// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What a group keeps and gives back, what is its own, and what may be put in its place.

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/static_buffer_source.hpp>

#include "affinity/fixture.hpp"
#include "support/ledger.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using namespace affinity_tests;
using tenure::page_layout;
using tenure::size_on_free;

using affinity_retention = groups;

TEST_F(affinity_retention, empty_blocks_stay_until_trim) {
    affinity_group group("kept", {.alignment = 8, .block_bytes = 64 * kibibyte}, source_);
    const std::vector<unsigned char*> objects = take_many(group, 10'000, 56);
    const std::size_t blocks = source_.live_blocks();
    ASSERT_GE(blocks, 8u);
    for (unsigned char* each : objects) group.deallocate(each, 56);
    EXPECT_EQ(source_.live_blocks(), blocks);
    EXPECT_FALSE(group.usage().total_bytes == 0);
    EXPECT_EQ(group.trim(), blocks * 64 * kibibyte);
    EXPECT_EQ(source_.live_blocks(), 0u);
    EXPECT_EQ(group.usage().total_bytes, 0u);
    EXPECT_FALSE(group.owns(objects[0]));
    EXPECT_EQ(take_many(group, 10'000, 56).size(), 10'000u);
    EXPECT_EQ(source_.live_blocks(), blocks);
    EXPECT_TRUE(group.valid());
}

TEST_F(affinity_retention, trim_keeps_what_objects_are_in_and_gives_back_the_pages_between) {
    affinity_group group("trimmed", {.alignment = 8}, source_);
    std::vector<unsigned char*> objects = take_many(group, 31'000, within(64)); // most of a block
    unsigned char* const kept = objects[16'000];
    std::memset(kept, 7, within(64));
    for (unsigned char* each : objects)
        if (each != kept) group.deallocate(each, within(64));
    const std::size_t given = group.trim();
    EXPECT_EQ(source_.live_blocks(), 1u);
    EXPECT_GE(given, 1700 * kibibyte);
    EXPECT_LE(given, 2 * mebibyte - 64 * kibibyte);
    EXPECT_EQ(source_.decommitted_bytes(), given);
    EXPECT_EQ(group.trim(), 0u) << "once";
    EXPECT_EQ(kept[within(63)], 7);
    EXPECT_TRUE(group.valid());
    support::ledger ledger;
    for (int count = 0; count < 31'000; ++count) ASSERT_EQ(ledger.add(take(group, within(64)), within(64), 8), "");
    EXPECT_EQ(ledger.check_all(), "");
    EXPECT_EQ(kept[0], 7);
    EXPECT_TRUE(group.valid());
}

TEST_F(affinity_retention, with_nothing_to_keep_an_empty_block_goes_back_at_once) {
    for (page_layout layout : {page_layout::mixed, page_layout::by_size}) {
        for (bool is_reversed : {false, true}) {
            const affinity_options options{
                .alignment = 8, .block_bytes = 64 * kibibyte, .max_retained_bytes = 0, .layout = layout};
            affinity_group group("given back", options, source_);
            std::vector<unsigned char*> objects = take_many(group, 20'000, within(64));
            const std::size_t blocks = source_.live_blocks();
            ASSERT_GE(blocks, 18u);
            if (is_reversed) std::reverse(objects.begin(), objects.end());
            for (std::size_t index = 0; index < objects.size(); ++index) {
                group.deallocate(objects[index], within(64));
                // All but the block that it allocates from and the one in which the run of freed memory is.
                const std::size_t left = (objects.size() - index) * 64;
                ASSERT_LE(source_.live_blocks(), left / (60 * kibibyte) + 3) << index;
            }
            EXPECT_EQ(group.size(), 0u);
            EXPECT_TRUE(group.valid());
        }
    }
}

TEST_F(affinity_retention, trim_says_what_went_back_also_where_nothing_is_kept) {
    for (std::size_t max_retained_bytes : {std::size_t{0}, 64 * kibibyte, tenure::max_object_bytes}) {
        affinity_group group("trimmed",
                             {.alignment = 8, .block_bytes = 64 * kibibyte, .max_retained_bytes = max_retained_bytes},
                             source_);
        for (unsigned char* each : take_many(group, 4000, 56)) group.deallocate(each, 56);
        const std::size_t before = source_.live_bytes();
        EXPECT_GT(before, 0u);
        EXPECT_EQ(group.trim(), before);
        EXPECT_EQ(source_.live_bytes(), 0u);
    }
}

TEST_F(affinity_retention, as_many_empty_blocks_are_kept_as_the_option_says) {
    affinity_group group("some", {.alignment = 8, .block_bytes = 64 * kibibyte, .max_retained_bytes = 256 * kibibyte},
                         source_);
    const std::vector<unsigned char*> objects = take_many(group, 20'000, 64);
    for (std::size_t step : {1u, 0u}) {
        for (std::size_t index = step; index < objects.size(); index += 2) group.deallocate(objects[index], 64);
    }
    EXPECT_TRUE(group.valid());
    EXPECT_GE(source_.live_blocks(), 4u);
    EXPECT_LE(source_.live_blocks(), 6u);
}

TEST_F(affinity_retention, clear_frees_everything_and_keeps_the_pages) {
    const int rows = support::under_sanitizer() || tenure::checks::caller ? 800 : 3000;
    for (const affinity_options& options : every_option({4, 8, 16})) {
        affinity_group group("cleared", options, source_);
        const auto fill = [&] {
            std::vector<unsigned char*> made;
            for (int count = 0; count < rows; ++count) {
                for (std::size_t bytes : {24u, 56u, 200u, 700u}) made.push_back(take(group, bytes));
                made.push_back(take(group, 40, 64));
            }
            made.push_back(take(group, 100'000));
            return made;
        };
        const std::vector<unsigned char*> first = fill();
        const std::size_t requests = source_.requests();
        for (std::size_t index = 0; index < 1000; index += 5) group.deallocate(first[index], 24);
        group.deallocate(first[1], 56);
        for (int round = 0; round < 3; ++round) {
            group.clear();
            EXPECT_EQ(group.size(), 0u);
            EXPECT_EQ(group.usage().reserved_bytes, 0u);
            EXPECT_EQ(group.usage().large_count, 0u);
            EXPECT_TRUE(group.valid());
            const std::vector<unsigned char*> again = fill();
            EXPECT_EQ(std::set<void*>(again.begin(), again.end()), std::set<void*>(first.begin(), first.end()));
            EXPECT_EQ(group.size(), again.size());
            support::ledger ledger;
            for (unsigned char* each : again) ASSERT_EQ(ledger.add(each, 24, options.alignment), "");
            EXPECT_TRUE(group.valid());
        }
        EXPECT_EQ(source_.requests(), requests);
    }
}

TEST_F(affinity_retention, large_objects_are_owned_counted_and_cleared) {
    affinity_group group("large", {}, source_);
    const std::size_t largest = affinity_group::max_in_block_bytes();
    EXPECT_EQ(largest, 16 * kibibyte);
    support::ledger ledger;
    for (std::size_t bytes : {largest + 1, largest * 2, std::size_t{200'000}, std::size_t{5'000'000}}) {
        for (std::size_t alignment : {1u, 64u, 8192u}) {
            void* const object = group.allocate(bytes, alignment);
            ASSERT_EQ(ledger.add(object, bytes, std::max<std::size_t>(alignment, 8)), "");
            EXPECT_TRUE(group.owns(object));
            EXPECT_TRUE(group.owns(static_cast<unsigned char*>(object) + bytes - 1));
        }
    }
    void* const aligned = group.allocate(10, 8192);
    ASSERT_EQ(ledger.add(aligned, 10, 8192), "");
    EXPECT_EQ(group.size(), 13u);
    EXPECT_EQ(group.usage().large_count, 13u);
    EXPECT_GE(group.usage().large_bytes, 3u * 5'200'000);
    EXPECT_EQ(group.usage().total_bytes, 0u) << "none of them is in a block";
    EXPECT_GE(group.stats().live_bytes, 3u * 5'200'000);
    EXPECT_TRUE(group.valid());
    EXPECT_EQ(ledger.check_all(), "");
    for (int form = 0; ledger.size() > 4; ++form) {
        const support::block gone = ledger.at(0);
        EXPECT_EQ(ledger.remove(gone.at), "");
        form % 2 == 0 ? group.deallocate(gone.at) : group.deallocate(gone.at, gone.bytes, gone.alignment);
        EXPECT_EQ(group.size(), ledger.size());
    }
    group.clear();
    EXPECT_EQ(group.size(), 0u);
    EXPECT_EQ(group.usage().large_count, 0u);
    group.trim();
    EXPECT_EQ(source_.live_bytes(), 0u);
    EXPECT_NE(group.allocate(largest + 1), nullptr);
}

TEST_F(affinity_retention, only_what_lies_in_its_memory_is_its_own) {
    affinity_group group("own", {.alignment = 8}, source_);
    affinity_group other("other", {.alignment = 8}, source_);
    int local = 0;
    const std::unique_ptr<int> foreign(new int);
    for (std::size_t bytes : {1u, 56u, 500u, 16'384u, 50'000u}) {
        unsigned char* const object = take(group, bytes);
        unsigned char* const not_its_own = take(other, bytes);
        EXPECT_TRUE(group.owns(object));
        EXPECT_TRUE(group.owns(object + bytes - 1));
        EXPECT_FALSE(other.owns(object));
        EXPECT_FALSE(group.owns(not_its_own));
        for (const void* each : {static_cast<const void*>(&local), static_cast<const void*>(foreign.get()),
                                 static_cast<const void*>(&group), static_cast<const void*>(nullptr)})
            EXPECT_FALSE(group.owns(each));
        EXPECT_FALSE(group.owns(tenure::pointer_at(UINTPTR_MAX)));
    }
}

TEST_F(affinity_retention, the_block_size_changes_only_while_there_is_no_block) {
    affinity_group group("sized", {}, source_);
    EXPECT_EQ(group.block_bytes(), 2 * mebibyte);
    const support::heard_reports heard;
    for (std::size_t wrong : {std::size_t{1}, 4 * kibibyte, 100 * kibibyte, 2048 * mebibyte})
        EXPECT_FALSE(group.configure({.block_bytes = wrong}, source_));
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 4u : 0u);
    EXPECT_EQ(group.block_bytes(), 2 * mebibyte);
    EXPECT_TRUE(group.configure({.block_bytes = 64 * kibibyte}, source_));
    EXPECT_EQ(group.block_bytes(), 64 * kibibyte);
    const std::vector<unsigned char*> objects = take_many(group, 5000, 56);
    EXPECT_EQ(source_.live_bytes(), source_.live_blocks() * 64 * kibibyte);
    EXPECT_FALSE(group.configure({.block_bytes = mebibyte}, source_));
    EXPECT_EQ(group.block_bytes(), 64 * kibibyte);
    for (unsigned char* each : objects) group.deallocate(each);
    EXPECT_FALSE(group.configure({.block_bytes = mebibyte}, source_)) << "empty blocks are blocks";
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 6u : 0u);
    EXPECT_FALSE(group.is_unused());
    group.trim();
    EXPECT_TRUE(group.is_unused());
    EXPECT_TRUE(group.configure({.block_bytes = mebibyte}, source_));
    static_cast<void>(take_many(group, 5000, 56));
    EXPECT_EQ(source_.live_bytes(), mebibyte);
    EXPECT_TRUE(group.valid());
}

TEST_F(affinity_retention, a_group_is_configured_anew_only_while_it_is_empty) {
    const support::heard_reports heard;
    affinity_group group("configured", {}, source_);
    unsigned char* const first = take_many(group, 1, 24).front();
    EXPECT_FALSE(group.configure({.layout = tenure::page_layout::by_size}, source_));
    group.deallocate(first);
    group.trim();
    ASSERT_TRUE(group.configure({.alignment = 64,
                                 .sizes = tenure::size_on_free::required,
                                 .layout = tenure::page_layout::by_size,
                                 .threads = tenure::sharing::any_thread},
                                source_));
    EXPECT_EQ(group.name(), "configured");
    EXPECT_EQ(group.alignment(), 64u);
    const std::vector<unsigned char*> objects = take_many(group, 1000, 24);
    for (unsigned char* each : objects) EXPECT_EQ(tenure::address_of(each) % 64, 0u);
    std::thread([&] { static_cast<void>(take_many(group, 10, 24)); }).join();
    EXPECT_EQ(group.size(), 1010u);
    EXPECT_TRUE(group.valid());
    group.clear();
    group.trim();
    ASSERT_TRUE(group.configure({}, source_)); // its other thread's part went with the old configuration
    EXPECT_EQ(group.alignment(), 8u);
    alignas(64) static unsigned char buffer[64 * kibibyte];
    tenure::static_buffer_source of_one_thread(buffer, sizeof buffer);
    EXPECT_FALSE(group.configure({}, of_one_thread)) << "it is still for any thread";
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 2u : 0u);
    for (unsigned char* each : take_many(group, 100, 24)) group.deallocate(each);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_TRUE(group.valid());
}

TEST_F(affinity_retention, zero_in_the_options_keeps_what_the_group_was_created_with) {
    affinity_group group("aligned", {.alignment = 32, .block_bytes = mebibyte}, source_);
    ASSERT_TRUE(group.configure({.layout = tenure::page_layout::by_size}, source_));
    EXPECT_EQ(group.alignment(), 32u);
    EXPECT_EQ(group.block_bytes(), mebibyte);
    ASSERT_TRUE(group.configure({.alignment = 4, .block_bytes = 64 * kibibyte}, source_));
    EXPECT_EQ(group.alignment(), 4u);
    EXPECT_EQ(group.block_bytes(), 64 * kibibyte);
    ASSERT_TRUE(group.configure({}, source_));
    EXPECT_EQ(group.alignment(), 32u);
    EXPECT_EQ(group.block_bytes(), mebibyte);
}

TEST_F(affinity_retention, a_large_object_keeps_a_group_from_being_configured) {
    const support::heard_reports heard;
    affinity_group group("large", {}, source_);
    void* const large = group.allocate(1'000'000);
    ASSERT_NE(large, nullptr);
    EXPECT_FALSE(group.configure({}, source_));
    EXPECT_TRUE(group.owns(large));
    group.deallocate(large);
    EXPECT_TRUE(group.configure({}, source_));
}

/// Functions that note every call, over operator new.
struct recorder {
    std::map<void*, object> alive;
    std::size_t allocations = 0, sized = 0, unsized = 0, faults = 0;
    bool refuses = false;

    tenure::affinity_functions functions() {
        return {this,
                [](void* to, std::size_t bytes, std::size_t alignment) -> void* {
                    auto& self = *static_cast<recorder*>(to);
                    if (self.refuses) return nullptr;
                    ++self.allocations;
                    void* const made = ::operator new (bytes, std::align_val_t{alignment});
                    self.alive[made] = {static_cast<unsigned char*>(made), bytes, alignment};
                    return made;
                },
                [](void* to, void* block, std::size_t bytes, std::size_t alignment) {
                    auto& self = *static_cast<recorder*>(to);
                    const auto found = self.alive.find(block);
                    if (found == self.alive.end()) return void(++self.faults);
                    const object gone = found->second;
                    self.alive.erase(found);
                    ++(bytes == 0 ? self.unsized : self.sized);
                    self.faults += std::size_t{bytes != 0 && (bytes != gone.bytes || alignment != gone.alignment)};
                    ::operator delete (block, std::align_val_t{gone.alignment});
                }};
    }
};

TEST_F(affinity_retention, functions_of_the_users_own_get_every_call) {
    affinity_group group("replaced", {.alignment = 16}, source_);
    unsigned char* const early = take(group, 10);
    recorder calls;
    EXPECT_FALSE(group.replace_with(calls.functions())) << "an object is alive";
    EXPECT_EQ(calls.allocations, 0u);
    group.deallocate(early, 10);
    ASSERT_TRUE(group.replace_with(calls.functions()));
    std::vector<object> made;
    for (std::size_t bytes : {0u, 1u, 56u, 512u, 513u, 16'384u, 100'000u}) {
        for (std::size_t alignment : {1u, 8u, 64u, 8192u}) {
            unsigned char* const at = take(group, bytes, alignment);
            made.push_back({at, bytes, alignment});
            EXPECT_EQ(calls.alive[at].bytes, std::max<std::size_t>(bytes, 1));
            EXPECT_EQ(calls.alive[at].alignment, std::max<std::size_t>(alignment, 16));
            EXPECT_EQ(group.size(), made.size());
        }
    }
    EXPECT_FALSE(group.replace_with({})) << "objects of the functions are alive";
    EXPECT_EQ(calls.allocations, made.size());
    EXPECT_TRUE(group.valid());
    calls.refuses = true;
    EXPECT_EQ(group.allocate(8), nullptr);
    EXPECT_EQ(group.size(), made.size());
    for (std::size_t index = 0; index < made.size(); ++index) {
        const object& gone = made[index];
        index % 2 == 0 ? group.deallocate(gone.at) : group.deallocate(gone.at, gone.bytes, gone.alignment);
    }
    EXPECT_EQ(calls.unsized, made.size() / 2);
    EXPECT_EQ(calls.sized, made.size() / 2);
    EXPECT_EQ(calls.faults, 0u);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_TRUE(calls.alive.empty());
    EXPECT_TRUE(group.replace_with({}));
    unsigned char* const own = take(group, 10);
    EXPECT_TRUE(group.owns(own));
    EXPECT_EQ(calls.allocations, made.size());
    group.deallocate(own, 10);
    EXPECT_TRUE(group.valid());
}

TEST_F(affinity_retention, one_function_without_the_other_is_refused) {
    affinity_group group("half", {}, source_);
    recorder calls;
    tenure::affinity_functions half = calls.functions();
    half.deallocate = nullptr;
    EXPECT_FALSE(group.replace_with(half));
    half = calls.functions();
    half.allocate = nullptr;
    EXPECT_FALSE(group.replace_with(half));
    EXPECT_TRUE(group.owns(take(group, 8)));
}

}
