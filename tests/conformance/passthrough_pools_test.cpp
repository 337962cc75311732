// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What allocators do with their blocks when malloc serves them. These pass with and without TENURE_PASSTHROUGH; the
// tests of passthrough_test.cpp run them with each of its values.

#include <malloc.h>

#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/handle/handle_memory.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/pool/small_object.hpp>

#include "conformance/subjects.hpp"
#include "support/ledger.hpp"
#include "support/process.hpp"

namespace {

using tenure::part;

struct counted {
    counted() { ++alive; }
    ~counted() { --alive; }
    static inline int alive = 0;
    std::string text = "a text that is long enough to lie on the heap";
};

template<class Pool>
class passthrough_pools : public testing::Test {};
using pools = testing::Types<tenure::pool<counted>, tenure::shared_pool<counted>>;
TYPED_TEST_SUITE(passthrough_pools, pools);

TYPED_TEST(passthrough_pools, visits_clear_and_the_end_of_a_pool_see_every_object) {
    tenure::counting_source source(tenure::page_source::process());
    {
        TypeParam pool(source);
        std::vector<counted*> made;
        for (int count = 0; count < 500; ++count) made.push_back(pool.construct());
        for (std::size_t index = 0; index < made.size(); index += 2) pool.destroy(made[index]);
        std::set<counted*> seen;
        pool.for_each([&](counted& each) { seen.insert(&each); });
        EXPECT_EQ(seen.size(), 250u);
        EXPECT_EQ(pool.size(), 250u);
        EXPECT_EQ(pool.stats().live_count, 250u);
        pool.for_each([&](counted& each) {
            if (&each == made[1]) {
                pool.destroy(&each);
            }
        });
        EXPECT_EQ(counted::alive, 249);
        EXPECT_TRUE(pool.owns(made[3]));
        EXPECT_TRUE(pool.valid());
        pool.clear();
        EXPECT_EQ(counted::alive, 0);
        EXPECT_EQ(pool.size(), 0u);
        for (int count = 0; count < 100; ++count) ASSERT_NE(pool.construct(), nullptr);
        EXPECT_EQ(source.requests() == 0, tenure::passthrough_enabled(part::pool));
    }
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(source.live_blocks(), 0u);
}

TEST(passthrough_arena, marks_and_rewinds_work_block_by_block) {
    tenure::counting_source source(tenure::page_source::process());
    tenure::arena scratch(source);
    support::ledger ledger;
    ASSERT_EQ(ledger.add(scratch.allocate(1000, 16), 1000, 16), "");
    const tenure::arena::marker outer = scratch.mark();
    const std::size_t live = scratch.stats().live_bytes;
    for (int round = 0; round < 10; ++round) {
        for (std::size_t count = 1; count < 100; ++count) ASSERT_NE(scratch.allocate(count * 10, 64), nullptr);
        const tenure::arena::marker inner = scratch.mark();
        const std::size_t live_inside = scratch.stats().live_bytes;
        std::memset(scratch.allocate(5000, 4096), 1, 5000);
        EXPECT_GT(scratch.stats().live_bytes, live_inside);
        scratch.rewind(inner);
        EXPECT_EQ(scratch.stats().live_bytes, live_inside);
        EXPECT_TRUE(scratch.valid());
        scratch.rewind(outer);
        EXPECT_EQ(scratch.stats().live_bytes, live);
        EXPECT_EQ(ledger.check_all(), "");
    }
    EXPECT_EQ(source.requests() == 0, tenure::passthrough_enabled(part::arena));
    if (tenure::passthrough_enabled(part::arena)) {
        EXPECT_EQ(scratch.stats().source_blocks, 1u);
    }
    scratch.clear();
    EXPECT_EQ(scratch.stats().live_bytes, 0u);
    scratch.rewind({});
}

TEST(passthrough_temp, scopes_and_resets_take_back_block_by_block) {
    support::on_fresh_thread([] {
        const bool passthrough = tenure::passthrough_enabled(part::temp);
        const std::size_t before = support::malloc_bytes();
        {
            const tenure::temp_scope before_the_first_block;
            support::ledger ledger;
            for (int count = 0; count < 50; ++count)
                ASSERT_EQ(ledger.add(tenure::temp::allocate(3000, 64), 3000, 64), "");
            {
                const tenure::temp_scope inner;
                for (int count = 0; count < 50; ++count) std::memset(tenure::temp::allocate(3000), 1, 3000);
                if (passthrough && support::malloc_is_counted) {
                    EXPECT_GE(support::malloc_bytes(), before + 300'000);
                }
            }
            EXPECT_GE(tenure::temp::stats().used_bytes, 150'000u);
            EXPECT_LT(tenure::temp::stats().used_bytes, 200'000u);
            tenure::temp::deallocate(ledger.at(0).at, 3000); // allowed, and does nothing
            EXPECT_EQ(ledger.check_all(), "");
            EXPECT_TRUE(tenure::temp::owns(ledger.at(7).at + 2999));
        }
        EXPECT_EQ(tenure::temp::stats().used_bytes, 0u);
        if (passthrough) {
            EXPECT_LE(support::malloc_bytes(), before + 20'000);
        }
        static_cast<void>(tenure::temp::allocate(100));
        tenure::reset_temp();
        EXPECT_EQ(tenure::temp::stats().used_bytes, 0u);
        if (passthrough) {
            EXPECT_EQ(tenure::temp::stats().overflow_count, 0u) << "a detour is no overflow";
        }
        static_cast<void>(tenure::temp::allocate(100)); // left to the end of the thread
    });
}

TEST(passthrough_temp, what_is_allocated_under_a_tag_is_counted_for_it) {
    support::on_fresh_thread([] {
        {
            const tenure::tag_scope tagged("detour test");
            for (int count = 0; count < 10; ++count) static_cast<void>(tenure::temp::allocate(100));
        }
        static_cast<void>(tenure::temp::allocate(100));
        tenure::reset_temp();
        const bool passthrough = tenure::passthrough_enabled(tenure::part::temp); // malloc's blocks have no guards
        EXPECT_EQ(tenure::usage_of(tenure::tag::named("detour test")).temp_bytes,
                  1120 + (passthrough ? 0 : 10 * tenure::temp::guard_bytes));
    });
}

TEST(passthrough_temp_job, leaks_are_reported_on_time_and_freed_blocks_are_not) {
    static std::set<const void*> named;
    named.clear();
    const auto former = tenure::temp_job::set_leak_handler(
        [](const tenure::temp_job_leak& leak) noexcept { named.insert(leak.address); });
    std::vector<void*> blocks;
    {
        const tenure::tag_scope tagged("detour test");
        for (std::size_t count = 0; count < 100; ++count) blocks.push_back(tenure::temp_job::allocate(count * 100, 64));
    }
    EXPECT_EQ(tenure::usage_of(tenure::tag::named("detour test")).temp_job_count, 100u);
    for (std::size_t index = 0; index < 100; index += 2) tenure::temp_job::deallocate(blocks[index]);
    for (int frame = 0; frame < 4; ++frame) tenure::next_frame();
    EXPECT_TRUE(named.empty());
    tenure::next_frame();
    EXPECT_EQ(named.size(), 50u);
    tenure::next_frame();
    EXPECT_EQ(named.size(), 50u);
    for (std::size_t index = 1; index < 100; index += 2) {
        EXPECT_EQ(named.count(blocks[index]), 1u);
        EXPECT_TRUE(tenure::temp_job::owns(blocks[index]));
        tenure::temp_job::deallocate(blocks[index]);
    }
    EXPECT_EQ(tenure::temp_job::stats().live_count, 0u);
    tenure::temp_job::set_leak_handler(former);
}

TEST(passthrough_small_object, malloc_knows_the_object) {
    struct object : tenure::small_object {
        unsigned char bytes[100];
    };
    const std::size_t in_pools = tenure::small_object::stats().live_count;
    const std::unique_ptr<object> one(new object);
    const std::unique_ptr<object[]> many(new object[20]);
    std::memset(one->bytes, 1, 100);
    const bool passthrough = tenure::passthrough_enabled(part::small_object);
    EXPECT_EQ(tenure::small_object::stats().live_count, passthrough ? in_pools : in_pools + 2);
    if (passthrough) {
        EXPECT_GE(::malloc_usable_size(one.get()), 100u);
    }
    if (passthrough) {
        EXPECT_EQ(tenure::small_object::trim(), 0u);
    }
}

TEST(passthrough_handles, large_memory_is_aligned_and_zero_and_there_only_where_it_is_touched) {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    const std::size_t before = tenure::platform::resident_bytes();
    for (std::size_t alignment = 1; alignment <= std::size_t{2} << 20; alignment *= 8) {
        tenure::handle made;
        ASSERT_EQ(tenure::allocate_held(bytes, {.alignment = alignment, .kind = "test"}, made), tenure::status::ok);
        EXPECT_EQ(tenure::address_of(made.pointer) % alignment, 0u);
        auto* const first = static_cast<unsigned char*>(made.pointer);
        for (const std::size_t index : {std::size_t{0}, bytes / 2, bytes - 1})
            EXPECT_EQ(std::exchange(first[index], 1), 0);
        EXPECT_LT(tenure::platform::resident_bytes(), before + bytes / 2); // a freed one's begin is overwritten
        EXPECT_EQ(tenure::handle_table::process().remove(made), tenure::status::ok);
    }
    // Without zeros, and with a size that cannot be.
    tenure::handle made;
    ASSERT_EQ(tenure::allocate_held(std::size_t{3} << 20, {.alignment = 4096, .how = tenure::fill::none}, made),
              tenure::status::ok);
    std::memset(made.pointer, 1, made.bytes);
    EXPECT_EQ(tenure::handle_table::process().remove(made), tenure::status::ok);
    EXPECT_EQ(tenure::allocate_held(tenure::max_object_bytes, {.alignment = 4096}, made),
              tenure::status::out_of_memory);
}

}
