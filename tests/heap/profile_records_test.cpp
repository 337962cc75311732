// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/profile_records.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/profile/sample_index.hpp>

#include "support/address_space.hpp"
#include "support/process.hpp"
#include "support/random.hpp"

namespace {

using tenure::pointer_at;
using tenure::detail::profile_records;
using tenure::detail::sample_facts;
using tenure::detail::sample_index;

// The tables live as long as the process: static ones.

TEST(sample_index, equals_a_map) {
    static sample_index index;
    std::map<std::uintptr_t, std::uint32_t> model;
    support::random numbers(7);
    for (int step = 0; step < 300'000; ++step) {
        const std::uintptr_t address = (numbers.below(5000) + 1) * 64;
        const void* const block = pointer_at(address);
        const auto known = model.find(address);
        ASSERT_EQ(index.contains(block), known != model.end());
        ASSERT_EQ(index.get(block), known != model.end() ? known->second : sample_index::none);
        if (numbers.below(2) == 0) {
            const auto value = static_cast<std::uint32_t>(numbers.below(1000));
            ASSERT_TRUE(index.set(block, value));
            model[address] = value;
        } else {
            ASSERT_EQ(index.remove(block), known != model.end() ? known->second : sample_index::none);
            model.erase(address);
        }
        ASSERT_EQ(index.count(), model.size());
    }
    index.clear();
    EXPECT_EQ(index.count(), 0u);
    for (const auto& [address, value] : model) EXPECT_FALSE(index.contains(pointer_at(address)));
}

/// A stack of some frames that are no code.
std::array<void*, 3> stack_of(std::size_t which) {
    return {pointer_at(0x1000 + which), pointer_at(0x2000 + which % 7), pointer_at(0x3000)};
}

TEST(profile_records, changes_are_counted_and_nothing_else_is) {
    static profile_records records;
    const std::array<void*, 3> stack = stack_of(1);
    void* const block = pointer_at(0x10'0000);
    const sample_facts facts{block, 10, 16, 1.0, 1000, 1, 0};
    EXPECT_EQ(records.change_count(), 0u);
    EXPECT_FALSE(records.end(block));
    EXPECT_EQ(records.change_count(), 0u);
    ASSERT_TRUE(records.begin(facts, stack));
    EXPECT_EQ(records.change_count(), 1u);
    ASSERT_TRUE(records.begin(facts, stack)); // ends it first
    EXPECT_EQ(records.change_count(), 3u);
    EXPECT_TRUE(records.end(block));
    EXPECT_EQ(records.change_count(), 4u);
    records.clear();
    EXPECT_EQ(records.change_count(), 4u) << "it never falls";
}

TEST(profile_records, sums_equal_those_of_the_samples) {
    static profile_records records;
    struct block {
        std::size_t site;
        double chance, bytes;
    };
    std::map<std::uintptr_t, block> live;
    std::map<std::size_t, std::array<double, 3>> now, ever, at_peak; // blocks, bytes, samples
    double sum = 0, highest = 0;
    support::random numbers(11);
    const auto add = [](std::array<double, 3>& to, const block& each, double sign) {
        to[0] += sign / each.chance;
        to[1] += sign * each.bytes / each.chance;
        to[2] += sign;
    };
    for (int step = 0; step < 50'000; ++step) {
        if (live.empty() || numbers.below(20) < 11) {
            const std::uintptr_t address = (std::uintptr_t(step) + 1) * 16;
            const block added{numbers.below(500), 1.0 / double(1 + numbers.below(100)),
                              double(1 + numbers.below(4000))};
            const auto stack = stack_of(added.site);
            const sample_facts facts{pointer_at(address), 1, std::uint64_t(added.bytes),   added.chance,
                                     std::uint64_t(step), 1, std::uint16_t(added.site % 3)};
            ASSERT_TRUE(records.begin(facts, stack));
            live[address] = added;
            add(now[added.site], added, 1);
            add(ever[added.site], added, 1);
            sum += added.bytes / added.chance;
            if (sum > highest) {
                highest = sum;
                at_peak = now;
            }
        } else {
            auto gone = live.begin();
            std::advance(gone, std::ptrdiff_t(numbers.below(std::min<std::size_t>(live.size(), 8))));
            ASSERT_TRUE(records.may_contain(pointer_at(gone->first)));
            ASSERT_TRUE(records.end(pointer_at(gone->first)));
            ASSERT_FALSE(records.end(pointer_at(gone->first)));
            add(now[gone->second.site], gone->second, -1);
            sum -= gone->second.bytes / gone->second.chance;
            live.erase(gone);
        }
    }
    EXPECT_EQ(records.live_count(), live.size());
    EXPECT_EQ(records.site_count(), 500u);
    for (std::size_t index = 0; index < records.site_count(); ++index) {
        const auto site = records.site_at(index);
        ASSERT_EQ(site.frame_count, 3u);
        const std::size_t which = records.frames()[site.first_frame] - 0x1000;
        EXPECT_EQ(site.tag, which % 3);
        EXPECT_EQ(records.frames()[site.first_frame + 1], 0x2000 + which % 7);
        for (const auto& [estimate, wanted] :
             {std::pair{&site.allocated, &ever}, std::pair{&site.live, &now}, std::pair{&site.at_peak, &at_peak}}) {
            EXPECT_EQ(double(estimate->samples), (*wanted)[which][2]);
            EXPECT_NEAR(estimate->blocks, (*wanted)[which][0], 1e-6 * (1 + ever[which][0]));
            EXPECT_NEAR(estimate->bytes, (*wanted)[which][1], 1e-6 * (1 + ever[which][1]));
            EXPECT_GE(estimate->variance, 0);
        }
    }
    std::size_t visited = 0;
    records.for_each_live([&](const tenure::profile_format::live_sample& each) {
        ++visited;
        EXPECT_EQ(live.count(each.address), 1u);
    });
    EXPECT_EQ(visited, live.size());
    records.end_all();
    EXPECT_EQ(records.live_count(), 0u);
    for (std::size_t index = 0; index < records.site_count(); ++index) {
        EXPECT_EQ(records.site_at(index).live.samples, 0u);
        EXPECT_EQ(records.site_at(index).live.bytes, 0);
    }
}

TEST(profile_records, a_block_that_begins_twice_is_counted_once) {
    static profile_records records;
    const auto stack = stack_of(1);
    const sample_facts facts{pointer_at(64), 10, 16, 0.5, 1, 1, 0};
    ASSERT_TRUE(records.begin(facts, stack));
    ASSERT_TRUE(records.begin(facts, stack)); // its free was not seen
    EXPECT_EQ(records.live_count(), 1u);
    EXPECT_EQ(records.site_at(0).live.samples, 1u);
    EXPECT_EQ(records.site_at(0).allocated.samples, 2u);
}

TEST(profile_records, a_rise_is_told_when_it_is_reached_and_taken_while_it_lasts) {
    static profile_records records;
    const auto stack = stack_of(1);
    const auto begin = [&](std::uintptr_t block) { // 32 bytes, as estimated
        ASSERT_TRUE(records.begin(sample_facts{pointer_at(block), 10, 16, 0.5, 1, 1, 0}, stack));
    };
    for (std::uintptr_t block = 16; block <= 48; block += 16) begin(block);
    EXPECT_FALSE(records.has_risen()) << "nothing is awaited";
    records.await_rise(128);
    EXPECT_FALSE(records.has_risen());
    begin(64);
    EXPECT_TRUE(records.has_risen());
    EXPECT_FALSE(records.take_rise(1.1, 2)) << "not by so much";
    EXPECT_FALSE(records.has_risen()) << "until the next block";
    begin(80);
    EXPECT_TRUE(records.take_rise(1.5)); // awaits 240 bytes
    EXPECT_FALSE(records.take_rise(1.5)) << "another thread has it";
    for (std::uintptr_t block = 96; block <= 128; block += 16) begin(block);
    EXPECT_TRUE(records.has_risen());
    ASSERT_TRUE(records.end(pointer_at(128)));
    EXPECT_FALSE(records.take_rise(1.5)) << "it has fallen again";
    records.await_rise(32);
    EXPECT_TRUE(records.has_risen());
    records.clear();
    EXPECT_FALSE(records.has_risen());
    for (std::uintptr_t block = 16; block <= 48; block += 16) begin(block);
    EXPECT_FALSE(records.has_risen()) << "a profile that begins anew awaits nothing";
}

TEST(profile_records, without_memory_samples_are_lost_and_nothing_breaks) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer needs the addresses";
    static profile_records records;
    const auto stack = stack_of(1);
    std::size_t recorded = 0;
    {
        const support::address_limit limit(0);
        for (std::uintptr_t each = 1; each <= 1000; ++each) {
            const sample_facts facts{pointer_at(each * 16), 10, 16, 0.5, 1, 1, 0};
            recorded += std::size_t{records.begin(facts, stack)};
        }
    }
    EXPECT_EQ(records.lost_count(), 1000 - recorded);
    EXPECT_GT(records.lost_count(), 0u);
    EXPECT_EQ(records.live_count(), recorded);
    const sample_facts later{pointer_at(0x10'0000), 10, 16, 0.5, 1, 1, 0};
    EXPECT_TRUE(records.begin(later, stack));
    EXPECT_TRUE(records.end(later.block));
}

}
