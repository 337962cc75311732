// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/pool.hpp>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/pool/shared_pool.hpp>

namespace {

/// Knows how many of it are alive, and which.
struct counted {
    explicit counted(int number = 0) : number_(number), itself_(this) { alive().insert(this); }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() {
        EXPECT_EQ(itself_, this);
        EXPECT_EQ(alive().erase(this), 1u) << "destroyed twice, or never constructed";
        itself_ = nullptr;
    }
    static std::set<const counted*>& alive() {
        static std::set<const counted*> all;
        return all;
    }
    int number_;
    const counted* itself_;
};

struct throwing {
    explicit throwing(bool now) {
        if (now) throw std::runtime_error("no");
    }
    std::string text = "constructed";
};

struct alignas(256) over_aligned {
    unsigned char bytes[300];
};

/// Both pools promise the same to one thread.
template<class Pool>
class any_pool : public testing::Test {};

template<template<class> class Pool>
struct family {
    template<class T>
    using of = Pool<T>;
};
using families = testing::Types<family<tenure::pool>, family<tenure::shared_pool>>;
TYPED_TEST_SUITE(any_pool, families);

TYPED_TEST(any_pool, arguments_reach_the_constructor) {
    typename TypeParam::template of<std::pair<std::string, std::unique_ptr<int>>> pool;
    auto* const made = pool.construct("a long enough text for the heap", std::make_unique<int>(7));
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->first, "a long enough text for the heap");
    EXPECT_EQ(*made->second, 7);
    pool.destroy(made);
    EXPECT_EQ(pool.size(), 0u);
}

TYPED_TEST(any_pool, destroying_null_does_nothing) {
    typename TypeParam::template of<counted> pool;
    pool.destroy(nullptr);
    pool.destroy(pool.construct());
    pool.destroy(nullptr);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_NE(pool.construct(), nullptr);
}

TYPED_TEST(any_pool, the_living_are_destroyed_by_clear_and_by_the_end_of_the_pool) {
    {
        typename TypeParam::template of<counted> pool;
        std::vector<counted*> made;
        for (int number = 0; number < 1000; ++number) made.push_back(pool.construct(number));
        for (std::size_t index = 0; index < made.size(); index += 2) pool.destroy(made[index]);
        EXPECT_EQ(counted::alive().size(), 500u);
        pool.clear();
        EXPECT_EQ(counted::alive().size(), 0u);
        EXPECT_EQ(pool.size(), 0u);
        for (int number = 0; number < 700; ++number) made.push_back(pool.construct(number));
        EXPECT_EQ(counted::alive().size(), 700u);
        EXPECT_EQ(pool.size(), 700u);
    }
    EXPECT_EQ(counted::alive().size(), 0u);
}

TYPED_TEST(any_pool, every_living_object_is_visited_once) {
    typename TypeParam::template of<counted> pool;
    std::vector<counted*> made;
    for (int number = 0; number < 1000; ++number) made.push_back(pool.construct(number));
    for (std::size_t index = 0; index < made.size(); index += 3) pool.destroy(made[index]);
    std::set<const counted*> visited;
    pool.for_each([&](counted& each) {
        EXPECT_EQ(each.itself_, &each);
        EXPECT_TRUE(visited.insert(&each).second);
    });
    EXPECT_EQ(visited, counted::alive());
    pool.for_each([&](counted& each) {
        if (each.number_ % 2 == 0) pool.destroy(&each);
    });
    EXPECT_EQ(pool.size(), counted::alive().size());
    pool.for_each([](counted& each) { EXPECT_EQ(each.number_ % 2, 1); });
}

TYPED_TEST(any_pool, a_constructor_that_throws_leaves_the_pool_as_it_was) {
    typename TypeParam::template of<throwing> pool;
    throwing* const kept = pool.construct(false);
    for (int count = 0; count < 300; ++count) {
        EXPECT_THROW(static_cast<void>(pool.construct(true)), std::runtime_error);
        EXPECT_EQ(pool.size(), 1u);
    }
    EXPECT_EQ(kept->text, "constructed");
    std::size_t seen = 0;
    pool.for_each([&](throwing& each) { seen += each.text.size(); });
    EXPECT_EQ(seen, kept->text.size());
    EXPECT_TRUE(pool.valid());
}

TYPED_TEST(any_pool, a_refusal_is_null_and_constructs_nothing) {
    tenure::failing_source failing(tenure::page_source::process(), 0);
    typename TypeParam::template of<counted> pool(failing);
    EXPECT_EQ(pool.construct(1), nullptr);
    EXPECT_EQ(counted::alive().size(), 0u);
    EXPECT_EQ(pool.size(), 0u);
    failing.allow(1);
    EXPECT_NE(pool.construct(1), nullptr);
    EXPECT_EQ(pool.size(), 1u);
}

TYPED_TEST(any_pool, the_stride_is_the_size_of_the_type) {
    typename TypeParam::template of<over_aligned> wide;
    typename TypeParam::template of<char> narrow;
    for (int count = 0; count < 100; ++count) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.construct()) % 256, 0u);
        ASSERT_NE(narrow.construct('c'), nullptr);
    }
    EXPECT_EQ(wide.stats().live_bytes, 100 * sizeof(over_aligned));
    EXPECT_EQ(narrow.stats().live_bytes, 100u);
    EXPECT_TRUE(wide.valid());
    EXPECT_TRUE(narrow.valid());
}

TYPED_TEST(any_pool, everything_goes_back_to_the_source) {
    tenure::counting_source source(tenure::page_source::process());
    {
        typename TypeParam::template of<std::string> pool(source);
        std::vector<std::string*> made;
        for (int number = 0; number < 10'000; ++number)
            made.push_back(pool.construct("a text that is long enough for the heap, so that leaks are seen"));
        for (std::string* each : made) pool.destroy(each);
        EXPECT_GT(source.live_bytes(), 0u);
        EXPECT_EQ(pool.trim(), source.peak_bytes());
        EXPECT_EQ(source.live_bytes(), 0u);
        ASSERT_NE(pool.construct("another text that is long enough for the heap, and is alive"), nullptr);
    }
    EXPECT_EQ(source.live_blocks(), 0u);
}

}
