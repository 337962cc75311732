// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/static_buffer_source.hpp>

#include "affinity/fixture.hpp"
#include "support/careless_source.hpp"
#include "support/ledger.hpp"
#include "support/random.hpp"
#include "support/reports.hpp"

namespace {

using namespace affinity_tests;
using tenure::page_layout;
using tenure::size_on_free;

bool same(const tenure::allocator_stats& left, const tenure::allocator_stats& right) {
    return left.live_count == right.live_count && left.live_bytes == right.live_bytes &&
           left.reserved_bytes == right.reserved_bytes && left.source_blocks == right.source_blocks;
}

class affinity_refusal : public groups, public testing::WithParamInterface<affinity_options> {
protected:
    tenure::failing_source failing_{source_, SIZE_MAX};
};

INSTANTIATE_TEST_SUITE_P(options, affinity_refusal, testing::ValuesIn(every_option({4, 8, 64})),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(affinity_refusal, at_the_nth_request_changes_nothing_for_each_n) {
    const std::size_t enough = std::max<std::size_t>(GetParam().block_bytes * 3 / 2, 1'000'000);
    for (std::size_t allowed = 0;; ++allowed) {
        ASSERT_LT(allowed, 100u);
        failing_.allow(allowed);
        affinity_group group("refused", GetParam(), failing_);
        support::ledger ledger;
        support::random numbers(allowed);
        std::size_t bytes = 0;
        bool is_refused = false;
        while (bytes < enough) {
            // Past the largest that lies in a block now and then, so that the group's heap is refused too.
            const std::size_t asked = numbers.one_in(50) ? 30'000 : numbers.between(1, 2000);
            const tenure::allocator_stats before = group.stats();
            void* object = group.allocate(asked);
            if (object == nullptr) {
                ASSERT_FALSE(is_refused) << "one refusal is enough";
                is_refused = true;
                EXPECT_EQ(group.allocate(asked), nullptr);
                EXPECT_EQ(group.size(), ledger.size());
                EXPECT_EQ(group.stats().live_count, before.live_count);
                EXPECT_EQ(group.stats().reserved_bytes, before.reserved_bytes);
                EXPECT_EQ(ledger.check_all(), "");
                EXPECT_TRUE(group.valid());
                failing_.allow(SIZE_MAX);
                object = group.allocate(asked);
            }
            ASSERT_EQ(ledger.add(object, asked, GetParam().alignment), "");
            bytes += asked;
        }
        EXPECT_EQ(ledger.check_all(), "");
        while (!ledger.empty()) {
            const support::block gone = ledger.at(0);
            EXPECT_EQ(ledger.remove(gone.at), "");
            group.deallocate(gone.at, gone.bytes, gone.alignment);
        }
        EXPECT_EQ(group.size(), 0u);
        EXPECT_TRUE(group.valid());
        if (!is_refused) break;
    }
}

TEST_P(affinity_refusal, of_a_fuller_and_fuller_group_changes_no_figure) {
    affinity_group group("refused", GetParam(), failing_);
    failing_.allow(1);
    std::vector<unsigned char*> objects;
    for (void* made = nullptr; (made = group.allocate(100)) != nullptr;)
        objects.push_back(static_cast<unsigned char*>(made));
    const tenure::allocator_stats before = group.stats();
    for (std::size_t bytes : {100u, 1000u, 16'384u}) EXPECT_EQ(group.allocate(bytes), nullptr);
    EXPECT_TRUE(same(group.stats(), before));
    EXPECT_EQ(group.size(), objects.size());
    EXPECT_TRUE(group.valid());
    for (unsigned char* each : objects) group.deallocate(each, 100);
}

TEST_P(affinity_refusal, comes_only_when_no_free_range_fits) {
    affinity_group group("full", GetParam(), failing_);
    failing_.allow(1);
    const std::size_t bytes = 320; // the same in every arrangement and for every alignment here
    std::vector<unsigned char*> objects;
    for (void* made = nullptr; (made = group.allocate(bytes)) != nullptr;)
        objects.push_back(static_cast<unsigned char*>(made));
    ASSERT_GT(objects.size(), 150u);
    support::random numbers(3);
    for (int round = 0; round < 20; ++round) {
        // Whatever was freed, in whatever order, as many are there again and not one more.
        for (std::size_t left = objects.size(); left > 1; --left)
            std::swap(objects[left - 1], objects[numbers.below(left)]);
        const std::size_t freed = numbers.between(1, objects.size());
        for (std::size_t count = 0; count < freed; ++count, objects.pop_back()) group.deallocate(objects.back(), bytes);
        if (GetParam().max_retained_bytes == 0) failing_.allow(group.stats().source_blocks == 0 ? 1 : 0);
        for (std::size_t count = 0; count < freed; ++count) {
            void* const made = group.allocate(bytes);
            ASSERT_NE(made, nullptr) << count << " of " << freed;
            objects.push_back(static_cast<unsigned char*>(made));
        }
        ASSERT_EQ(group.allocate(bytes), nullptr);
        ASSERT_TRUE(group.valid());
    }
    for (unsigned char* each : objects) group.deallocate(each, bytes);
}

TEST_P(affinity_refusal, of_one_size_does_not_hide_what_another_has_given_back) {
    if (GetParam().max_retained_bytes == 0) GTEST_SKIP() << "an empty block goes back, and the source gives no other";
    affinity_group group("full", GetParam(), failing_);
    failing_.allow(1);
    std::size_t most = 0;
    for (bool is_reversed : {false, true}) {
        for (std::size_t bytes : {64u, 320u, 64u, 128u}) {
            std::vector<unsigned char*> objects;
            for (void* made = nullptr; (made = group.allocate(within(bytes))) != nullptr;)
                objects.push_back(static_cast<unsigned char*>(made));
            most = std::max(most, objects.size() * bytes);
            EXPECT_GE(objects.size() * bytes, most - most / 20) << bytes << " bytes";
            if (is_reversed) std::reverse(objects.begin(), objects.end());
            for (unsigned char* each : objects) group.deallocate(each, within(bytes));
            EXPECT_EQ(group.size(), 0u);
        }
    }
}

TEST_P(affinity_refusal, a_free_range_that_is_aligned_by_chance_is_found) {
    affinity_group group("aligned", GetParam(), failing_);
    failing_.allow(1);
    std::vector<unsigned char*> objects;
    for (void* made = nullptr; (made = group.allocate(256, 256)) != nullptr;)
        objects.push_back(static_cast<unsigned char*>(made));
    ASSERT_GT(objects.size(), 50u);
    for (std::size_t index = 1; index < objects.size(); index += 2) {
        group.deallocate(objects[index], 256, 256);
        void* const made = group.allocate(256, 256);
        ASSERT_NE(made, nullptr) << "the place of " << index << " is free";
        objects[index] = static_cast<unsigned char*>(made);
    }
    for (unsigned char* each : objects) group.deallocate(each, 256, 256);
}

TEST_F(groups, a_longer_free_run_is_found_behind_shorter_ones) {
    tenure::failing_source failing(source_, 1);
    affinity_group group("runs", {.alignment = 8, .block_bytes = 64 * kibibyte}, failing);
    std::vector<unsigned char*> objects;
    for (void* made = nullptr; (made = group.allocate(within(64))) != nullptr;)
        objects.push_back(static_cast<unsigned char*>(made));
    while (group.allocate(8) != nullptr) {}
    // Runs of one, of two and of five; then one of five and a bit: of the class of four, as its page is filed.
    for (std::size_t index : {10u, 20u, 21u, 30u, 31u, 32u, 33u, 34u}) group.deallocate(objects[index], within(64));
    EXPECT_EQ(group.allocate(within(6 * 64)), nullptr);
    EXPECT_EQ(group.allocate(within(5 * 64 + 8)), nullptr);
    EXPECT_EQ(group.allocate(within(5 * 64)), objects[30]);
    EXPECT_EQ(group.allocate(within(5 * 64)), nullptr);
    EXPECT_EQ(group.allocate(within(2 * 64)), objects[20]);
    EXPECT_EQ(group.allocate(within(64)), objects[10]);
    EXPECT_EQ(group.allocate(8), nullptr);
    EXPECT_TRUE(group.valid());
}

TEST_F(groups, of_many_pages_whose_runs_are_too_short_the_one_that_fits_is_found) {
    tenure::failing_source failing(source_, 1);
    affinity_group group("pages", {.alignment = 8}, failing);
    std::vector<unsigned char*> objects;
    for (void* made = nullptr; (made = group.allocate(1024)) != nullptr;)
        objects.push_back(static_cast<unsigned char*>(made));
    while (group.allocate(8) != nullptr) {}
    // 31 or so pages, each with a run of 3 KiB, and one in the middle with 3.5.
    for (std::size_t index = 5; index + 60 < objects.size(); index += 60) {
        for (std::size_t each : {0u, 1u, 2u}) group.deallocate(objects[index + each], 1024);
    }
    unsigned char* const wanted = objects[5 + 60 * 14];
    auto* const halved = objects[5 + 60 * 14 + 3];
    group.deallocate(halved, 1024);
    EXPECT_EQ(group.allocate(4096), wanted);
    EXPECT_EQ(group.allocate(4096), nullptr);
    group.deallocate(wanted, 4096);
    EXPECT_EQ(group.allocate(3500), wanted) << "3.5 KiB, as runs of 3 and of 4 are of one class";
    EXPECT_TRUE(group.valid());
}

TEST_F(groups, a_static_buffer_serves_even_when_it_is_not_zero) {
    constexpr std::size_t bytes = 256 * kibibyte;
    const std::unique_ptr<unsigned char[]> buffer(new unsigned char[bytes]);
    std::memset(buffer.get(), 0xAB, bytes);
    tenure::static_buffer_source fixed(buffer.get(), bytes);
    {
        affinity_group group("buffer", {.alignment = 8, .block_bytes = 64 * kibibyte}, fixed);
        for (int round = 0; round < 3; ++round) {
            support::ledger ledger;
            std::vector<support::block> objects;
            for (void* made = nullptr; (made = group.allocate(within(56))) != nullptr;) {
                ASSERT_EQ(ledger.add(made, within(56), 8), "");
                ASSERT_TRUE(made >= buffer.get() && made < buffer.get() + bytes);
            }
            EXPECT_GE(ledger.size(), 3u * 60'000 / 56) << "three blocks at least";
            EXPECT_EQ(group.size(), ledger.size());
            EXPECT_EQ(ledger.check_all(), "");
            while (!ledger.empty()) {
                unsigned char* const gone = ledger.at(ledger.size() / 3).at;
                EXPECT_EQ(ledger.remove(gone), "");
                ledger.size() % 2 == 0 ? group.deallocate(gone) : group.deallocate(gone, within(56));
            }
            EXPECT_TRUE(group.valid());
            EXPECT_EQ(group.allocate(1 << 20), nullptr) << "nor has its heap any";
            if (round == 1) group.trim();
            std::memset(buffer.get() + fixed.used_bytes(), 0xCD, bytes - fixed.used_bytes());
        }
    }
    EXPECT_EQ(fixed.used_bytes(), 0u);
}

TEST(affinity_refusals, a_source_for_one_thread_serves_no_group_for_any) {
    const support::heard_reports heard;
    alignas(64) static unsigned char buffer[1 << 20];
    tenure::static_buffer_source source(buffer, sizeof buffer);
    affinity_group group("shared", {.threads = tenure::sharing::any_thread}, source);
    EXPECT_EQ(group.allocate(8), nullptr);
    EXPECT_EQ(group.allocate(100'000), nullptr);
    EXPECT_FALSE(group.configure({.threads = tenure::sharing::any_thread}, source));
    EXPECT_FALSE(group.replace_with({nullptr, [](void*, std::size_t, std::size_t) -> void* { return nullptr; },
                                     [](void*, void*, std::size_t, std::size_t) {}}));
    EXPECT_EQ(heard.count(), tenure::checks::caller ? 2u : 0u) << "created and configured";
}

TEST(affinity_refusals, a_small_source_gives_smaller_blocks) {
    static unsigned char buffer[3 << 20];
    for (const std::size_t bytes : {std::size_t{300} << 10, std::size_t{1} << 20, sizeof buffer}) {
        tenure::static_buffer_source source(buffer, bytes);
        affinity_group group("small", {}, source);
        EXPECT_LE(group.block_bytes(), bytes / 2);
        std::size_t count = 0;
        while (group.allocate(100) != nullptr) ++count;
        EXPECT_GT(count * 104, bytes / 4) << bytes;
        EXPECT_TRUE(group.valid());
    }
}

TEST_F(groups, a_block_that_is_not_aligned_goes_back_and_counts_as_refused) {
    support::careless_source source;
    const support::heard_reports heard;
    affinity_group group("careless", {}, source);
    EXPECT_EQ(group.allocate(100), nullptr);
    EXPECT_EQ(group.stats().source_blocks, 0u);
    EXPECT_EQ(source.live_blocks, 0u);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse) != 0, tenure::checks::caller);
    EXPECT_TRUE(group.valid());
}

affinity_group* asked_group = nullptr;

TEST_F(groups, a_handler_may_ask_a_shared_group_whose_source_is_careless) {
    static int heard;
    heard = 0;
    support::careless_source source;
    affinity_group group("careless", {.threads = tenure::sharing::any_thread}, source);
    asked_group = &group;
    auto* const former = tenure::set_report_handler([](tenure::report_kind, std::string_view) noexcept {
        ++heard;
        static_cast<void>(asked_group->size());
    });
    EXPECT_EQ(group.allocate(100), nullptr);
    tenure::set_report_handler(former);
    EXPECT_EQ(heard != 0, tenure::checks::caller);
    EXPECT_EQ(source.live_blocks, 0u);
}

}
