// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/typed.hpp>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace {

using tenure::lifetime;

struct alignas(64) wide {
    float values[16];
};

struct counted {
    static inline int alive = 0;
    static inline int throw_at = -1;
    int value;

    explicit counted(int of = 7) : value(of) {
        if (alive == throw_at) throw std::runtime_error("enough");
        ++alive;
    }
    ~counted() { --alive; }
};

struct base {
    virtual ~base() = default;
    int first = 1;
};
struct other_base {
    virtual ~other_base() = default;
    int second = 2;
};
struct both : base, other_base {
    explicit both(bool& told) : gone(&told) {}
    ~both() override { *gone = true; }
    bool* gone;
};

class typed : public testing::Test {
protected:
    void SetUp() override { counted::throw_at = -1; }
    void TearDown() override { EXPECT_EQ(counted::alive, 0); }
};

TEST_F(typed, memory_comes_as_a_span_of_the_count_at_the_alignment_of_the_type) {
    const tenure::temp_scope scope;
    tenure::arena arena;
    tenure::heap heap;
    tenure::affinity_group group("typed");
    const std::span<wide> all[] = {tenure::allocate<wide>(3, lifetime::temp),
                                   tenure::allocate<wide>(3, lifetime::temp_job),
                                   tenure::allocate<wide>(3, lifetime::persistent),
                                   scope.allocate<wide>(3),
                                   tenure::temp::allocate<wide>(3),
                                   tenure::temp_job::allocate<wide>(3),
                                   arena.allocate<wide>(3),
                                   heap.allocate<wide>(3),
                                   group.allocate<wide>(3)};
    for (const std::span<wide> each : all) {
        ASSERT_EQ(each.size(), 3u);
        EXPECT_TRUE(tenure::is_aligned(each.data(), alignof(wide)));
        for (wide& element : each) element.values[15] = 1; // an overlap would be seen below
    }
    for (const std::span<wide> each : all)
        for (const wide& element : each) EXPECT_EQ(element.values[15], 1);
    tenure::deallocate(all[1], lifetime::temp_job);
    tenure::deallocate(all[2], lifetime::persistent);
    tenure::temp_job::deallocate(all[5]);
    heap.deallocate(all[7]);
    group.deallocate(all[8]);
    EXPECT_EQ(heap.stats().live_count, 0u);
    EXPECT_EQ(group.size(), 0u);
}

TEST_F(typed, a_count_that_overflows_or_memory_that_ends_gives_an_empty_span) {
    alignas(64) unsigned char buffer[2048];
    tenure::static_buffer_source little(buffer, sizeof buffer);
    tenure::arena arena(1024, little);
    EXPECT_EQ(arena.allocate<int>(SIZE_MAX / 2).data(), nullptr);
    EXPECT_EQ(arena.allocate<int>(10'000).data(), nullptr);
    EXPECT_TRUE(arena.allocate<int>(10'000).empty());
    EXPECT_EQ(arena.make_array<int>(10'000).size(), 0u);
    EXPECT_EQ(arena.make_array<wide>(100).data(), nullptr);
    EXPECT_EQ(tenure::allocate<int>(SIZE_MAX / 4, lifetime::temp_job).data(), nullptr);
    EXPECT_EQ(tenure::make_array<counted>(SIZE_MAX / 4, lifetime::persistent).data(), nullptr);
}

TEST_F(typed, objects_are_constructed_with_their_arguments_and_destroyed) {
    for (const lifetime held : {lifetime::temp, lifetime::temp_job, lifetime::persistent}) {
        auto* const one = tenure::make<counted>(held, 3);
        ASSERT_NE(one, nullptr);
        EXPECT_EQ(one->value, 3);
        const std::span<counted> many = tenure::make_array<counted>(5, held);
        ASSERT_EQ(many.size(), 5u);
        EXPECT_EQ(many[4].value, 7);
        EXPECT_EQ(counted::alive, 6);
        tenure::destroy_array(many, held);
        tenure::destroy(one, held);
        EXPECT_EQ(counted::alive, 0);
        tenure::destroy(static_cast<counted*>(nullptr), held);
    }
    tenure::heap heap;
    tenure::affinity_group group("typed");
    auto* const in_heap = heap.make<counted>(4);
    auto* const in_group = group.make<counted>(5);
    auto* const in_job = tenure::temp_job::make<counted>(6);
    EXPECT_EQ(in_heap->value + in_group->value + in_job->value, 15);
    EXPECT_TRUE(heap.owns(in_heap) && group.owns(in_group));
    heap.destroy(in_heap);
    group.destroy(in_group);
    tenure::temp_job::destroy(in_job);
    heap.destroy_array(heap.make_array<counted>(3));
    group.destroy_array(group.make_array<counted>(3));
    EXPECT_EQ(heap.stats().live_count + group.size(), 0u);
}

TEST_F(typed, an_array_is_zero) {
    tenure::arena arena;
    const std::span<std::uint64_t> dirty = arena.allocate<std::uint64_t>(100);
    for (std::uint64_t& each : dirty) each = ~std::uint64_t{0};
    arena.clear();
    for (const std::uint64_t each : arena.make_array<std::uint64_t>(100)) EXPECT_EQ(each, 0u);
    EXPECT_EQ(*arena.make<int>(8), 8);
}

TEST_F(typed, a_constructor_that_throws_leaves_neither_objects_nor_memory) {
    tenure::heap heap;
    counted::throw_at = 4;
    EXPECT_THROW(static_cast<void>(heap.make_array<counted>(10)), std::runtime_error);
    counted::throw_at = 0;
    EXPECT_THROW(static_cast<void>(heap.make<counted>(1)), std::runtime_error);
    EXPECT_THROW(static_cast<void>(tenure::make<counted>(lifetime::temp_job, 1)), std::runtime_error);
    EXPECT_EQ(heap.stats().live_count, 0u);
}

TEST_F(typed, an_object_is_freed_through_a_base_that_is_not_at_its_start) {
    bool gone = false;
    tenure::heap heap;
    other_base* const in_heap = heap.make<both>(gone);
    heap.destroy(in_heap);
    EXPECT_TRUE(gone);
    EXPECT_EQ(heap.stats().live_count, 0u);
    gone = false;
    other_base* const in_job = tenure::make<both>(lifetime::temp_job, gone);
    tenure::destroy(in_job, lifetime::temp_job);
    EXPECT_TRUE(gone);
}

TEST_F(typed, the_newest_elements_of_temp_and_of_an_arena_rewind_when_they_are_freed) {
    const tenure::temp_scope scope;
    const std::span<int> first = tenure::allocate<int>(10, lifetime::temp);
    tenure::deallocate(first, lifetime::temp);
    EXPECT_EQ(tenure::allocate<int>(10, lifetime::temp).data(), first.data());
}

}
