// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/make.hpp>

#include <list>
#include <memory_resource>
#include <span>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/adapt/resource_adaptor.hpp>
#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/adapt/unique.hpp>

#include "support/reports.hpp"

namespace {

using tenure::destroy;
using tenure::destroy_array;
using tenure::heap;
using tenure::make;
using tenure::make_array;

struct counted {
    static inline int alive = 0;
    static inline int throw_at = -1;
    counted() {
        if (alive == throw_at) throw std::runtime_error("refuses");
        ++alive;
    }
    explicit counted(int start) : counted() { value = start; }
    ~counted() { --alive; }
    int value = 7;
};

struct base {
    virtual ~base() { ++destroyed; }
    static inline int destroyed = 0;
    long first = 1;
};
struct other_base {
    virtual ~other_base() { ++destroyed; }
    static inline int destroyed = 0;
    long second = 2;
};
struct derived final : base, other_base {
    char much[500];
};

struct alignas(256) wide {
    char bytes[300];
};

class made : public testing::Test {
protected:
    ~made() override {
        counted::throw_at = -1;
        EXPECT_EQ(counted::alive, 0);
        EXPECT_EQ(heap::process().stats().live_count, before_);
    }
    std::size_t before_ = heap::process().stats().live_count;
};

TEST_F(made, an_object_that_is_destroyed_twice_is_reported_as_freed) {
    if (!tenure::checks::caller) GTEST_SKIP() << "not seen in this build";
    long* const object = make<long>(1);
    destroy(object);
    const support::heard_reports heard;
    destroy(object);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("was freed"), std::string::npos) << heard.last();
}

TEST_F(made, an_object_is_made_and_destroyed) {
    counted* const object = make<counted>(5);
    EXPECT_EQ(object->value, 5);
    EXPECT_EQ(counted::alive, 1);
    EXPECT_TRUE(heap::process().owns(object));
    destroy(object);
    destroy(static_cast<counted*>(nullptr));
    wide* const aligned = make<wide>();
    EXPECT_EQ(tenure::address_of(aligned) % 256, 0u);
    destroy(aligned);
    destroy<const int>(make<int>(5));
}

TEST_F(made, a_derived_object_is_destroyed_through_any_base) {
    other_base* const second = make<derived>();
    base* const first = make<derived>();
    ASSERT_TRUE(first != nullptr && second != nullptr);
    EXPECT_EQ(second->second, 2);
    EXPECT_EQ(first->first, 1);
    const int before = base::destroyed, before_other = other_base::destroyed;
    destroy(second);
    destroy(first);
    EXPECT_EQ(base::destroyed - before, 2);
    EXPECT_EQ(other_base::destroyed - before_other, 2);
}

TEST_F(made, a_constructor_that_throws_leaves_nothing) {
    counted::throw_at = 0;
    EXPECT_THROW((void)make<counted>(1), std::runtime_error);
    counted::throw_at = 4;
    EXPECT_THROW((void)make_array<counted>(10), std::runtime_error);
    EXPECT_EQ(counted::alive, 0);
}

TEST_F(made, arrays_are_whole_and_zero) {
    const std::span<int> numbers = make_array<int>(1000);
    ASSERT_EQ(numbers.size(), 1000u);
    for (int& number : numbers) {
        ASSERT_EQ(number, 0);
        number = -1;
    }
    destroy_array(numbers);
    const std::span<counted> objects = make_array<counted>(100);
    EXPECT_EQ(counted::alive, 100);
    EXPECT_EQ(objects[99].value, 7);
    destroy_array(objects);
    EXPECT_EQ(counted::alive, 0);
    const std::span<int> none = make_array<int>(0);
    EXPECT_TRUE(none.empty());
    destroy_array(none);
    destroy_array(std::span<int>());
    EXPECT_EQ(make_array<int>(SIZE_MAX / 2).data(), nullptr);
    EXPECT_EQ(make_array<int>(SIZE_MAX / 8).data(), nullptr);
}

TEST_F(made, owners_and_containers_live_on_heaps) {
    {
        const tenure::unique<counted> owned{make<counted>(3)};
        EXPECT_EQ(owned->value, 3);
        static_assert(sizeof owned == sizeof(void*));
        std::vector<int, tenure::stl_allocator<int, tenure::process_memory>> numbers(1000, 3);
        EXPECT_TRUE(heap::process().owns(numbers.data()));
        heap mine;
        std::list<int, tenure::stl_allocator<int, heap>> list{tenure::stl_allocator<int, heap>(mine)};
        for (int each = 0; each < 100; ++each) list.push_back(each);
        EXPECT_TRUE(mine.owns(&list.front()));
        tenure::resource_adaptor<heap> resource(mine);
        std::pmr::vector<std::pmr::string> words(&resource);
        for (int each = 0; each < 100; ++each) words.emplace_back("a string that is too long to lie inside its object");
        EXPECT_TRUE(mine.owns(words.back().data()));
        const auto alone = tenure::make_unique_in<counted>(mine, 9);
        EXPECT_TRUE(mine.owns(alone.get()));
    }
}

}
