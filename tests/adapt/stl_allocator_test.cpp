// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/adapt/stl_allocator.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/arena/arena.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/pool.hpp>

#include "adapt/recording_allocator.hpp"

namespace {

using adapt::recording_allocator;
using tenure::stl_allocator;

template<class T>
using recorded = stl_allocator<T, recording_allocator>;
template<class T>
using traits = std::allocator_traits<recorded<T>>;

static_assert(std::is_same_v<traits<int>::value_type, int>);
static_assert(std::is_same_v<traits<int>::rebind_alloc<std::string>, recorded<std::string>>);
static_assert(!traits<int>::is_always_equal::value);
static_assert(!traits<int>::propagate_on_container_move_assignment::value);
static_assert(sizeof(recorded<int>) == sizeof(void*));
static_assert(!std::is_default_constructible_v<recorded<int>>, "it must be told which allocator");
static_assert(std::is_nothrow_default_constructible_v<stl_allocator<int, tenure::temp_job>>);
static_assert(std::is_nothrow_copy_constructible_v<recorded<int>>);
static_assert(std::allocator_traits<stl_allocator<int, tenure::temp_job>>::is_always_equal::value);
static_assert(sizeof(std::vector<int, stl_allocator<int, tenure::temp_job>>) == sizeof(std::vector<int>));
static_assert(std::is_nothrow_move_assignable_v<std::vector<int, stl_allocator<int, tenure::temp>>>);
static_assert(std::is_nothrow_constructible_v<recorded<long>, recorded<int>>);
static_assert(std::is_convertible_v<tenure::arena&, stl_allocator<int, tenure::arena>>);
static_assert(!std::is_constructible_v<stl_allocator<int, tenure::arena>, recorded<int>>);

struct alignas(128) wide {
    unsigned char bytes[200];
};

class stl_allocators : public testing::Test {
protected:
    ~stl_allocators() override {
        EXPECT_EQ(from_.fault(), "");
        EXPECT_EQ(from_.live(), 0u);
    }
    recording_allocator from_;
};

TEST_F(stl_allocators, sizes_are_counts_times_the_type_and_alignments_are_the_types) {
    recorded<wide> give(from_);
    wide* const some = give.allocate(3);
    EXPECT_EQ(from_.last_bytes(), 3 * sizeof(wide));
    EXPECT_EQ(from_.last_alignment(), 128u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(some) % 128, 0u);
    give.deallocate(some, 3);
    const recorded<char> small_ones(from_);
    char* const text = recorded<char>(small_ones).allocate(5);
    EXPECT_EQ(from_.last_bytes(), 5u);
    EXPECT_EQ(from_.last_alignment(), 1u);
    recorded<char>(small_ones).deallocate(text, 5);
}

TEST_F(stl_allocators, zero_objects_are_a_block_too) {
    recorded<int> give(from_);
    int* const one = give.allocate(0);
    int* const two = give.allocate(0);
    EXPECT_NE(one, nullptr);
    EXPECT_NE(one, two);
    give.deallocate(one, 0);
    give.deallocate(two, 0);
}

TEST_F(stl_allocators, a_count_whose_bytes_overflow_is_bad_alloc_and_asks_for_nothing) {
    recorded<wide> give(from_);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    for (std::size_t count : {most, most / 2, most / sizeof(wide) + 1, most / sizeof(wide) + 2})
        EXPECT_THROW(static_cast<void>(give.allocate(count)), std::bad_alloc) << count;
    EXPECT_EQ(from_.requests(), 0u);
    EXPECT_THROW(static_cast<void>(give.allocate(most / sizeof(wide))), std::bad_alloc) << "no overflow, but refused";
    EXPECT_EQ(from_.last_bytes(), most / sizeof(wide) * sizeof(wide));

    tenure::arena scratch;
    stl_allocator<wide, tenure::arena> in_arena(scratch);
    stl_allocator<wide, tenure::temp_job> in_job;
    for (std::size_t count : {most, most / sizeof(wide) + 1, most / sizeof(wide), most / sizeof(wide) / 2}) {
        EXPECT_THROW(static_cast<void>(in_arena.allocate(count)), std::bad_alloc) << count;
        EXPECT_THROW(static_cast<void>(in_job.allocate(count)), std::bad_alloc) << count;
    }
    EXPECT_EQ(scratch.stats().live_bytes, 0u);
}

TEST_F(stl_allocators, a_refusal_is_bad_alloc) {
    recorded<int> give(from_);
    from_.allow(1);
    int* const one = give.allocate(10);
    EXPECT_THROW(static_cast<void>(give.allocate(10)), std::bad_alloc);
    EXPECT_EQ(from_.live(), 1u);
    give.deallocate(one, 10);
}

TEST_F(stl_allocators, a_container_that_is_refused_keeps_what_it_has) {
    std::vector<std::string, recorded<std::string>> names(from_);
    names.assign(10, "a text that is long enough to lie on the heap");
    names.shrink_to_fit();
    std::string* const place = names.data();
    from_.allow(0);
    EXPECT_THROW(names.emplace_back("one more"), std::bad_alloc);
    EXPECT_THROW(names.resize(1000), std::bad_alloc);
    EXPECT_THROW(names.reserve(11), std::bad_alloc);
    EXPECT_EQ(names.data(), place);
    EXPECT_EQ(names.size(), 10u);
    EXPECT_EQ(names.back(), "a text that is long enough to lie on the heap");
    from_.allow(1);
    names.emplace_back("one more");
    EXPECT_EQ(names.back(), "one more");
}

TEST_F(stl_allocators, an_arena_whose_source_refuses_throws_into_the_container) {
    tenure::failing_source source(tenure::page_source::process(), 1);
    tenure::arena scratch(4096, source);
    std::vector<int, stl_allocator<int, tenure::arena>> numbers(scratch);
    int pushed = 0;
    try {
        for (;; ++pushed) numbers.push_back(pushed);
    } catch (const std::bad_alloc&) {}
    ASSERT_EQ(numbers.size(), static_cast<std::size_t>(pushed));
    EXPECT_GE(pushed, 128);
    for (int index = 0; index < pushed; ++index) EXPECT_EQ(numbers[static_cast<std::size_t>(index)], index);
    EXPECT_TRUE(scratch.valid());
    source.allow(10);
    numbers.push_back(pushed);
    EXPECT_EQ(numbers.back(), pushed);
}

TEST_F(stl_allocators, equal_means_of_the_same_allocator_whatever_the_type) {
    recording_allocator other;
    const recorded<int> one(from_);
    EXPECT_TRUE(one == recorded<int>(from_));
    EXPECT_TRUE(one == recorded<std::string>(from_));
    EXPECT_FALSE(one != recorded<std::string>(from_));
    EXPECT_TRUE(one != recorded<int>(other));
    EXPECT_TRUE(one != recorded<std::string>(other));
    EXPECT_TRUE((stl_allocator<int, tenure::temp_job>() == stl_allocator<long, tenure::temp_job>()));
}

TEST_F(stl_allocators, rebound_and_back_it_is_the_same) {
    recorded<int> one(from_);
    const recorded<wide> rebound(one);
    const recorded<int> back(rebound);
    EXPECT_EQ(back, one);
    EXPECT_EQ(&rebound.reference().get(), &from_);
    int* const block = one.allocate(4);
    recorded<int>(back).deallocate(block, 4);
}

TEST_F(stl_allocators, a_shared_pointer_and_its_counts_are_one_block) {
    std::weak_ptr<std::string> watcher;
    {
        const auto text = std::allocate_shared<std::string>(recorded<std::string>(from_), 100u, 'x');
        EXPECT_EQ(from_.live(), 1u);
        EXPECT_TRUE(from_.owns(text.get()));
        watcher = text;
    }
    EXPECT_TRUE(watcher.expired());
    EXPECT_EQ(from_.live(), 1u) << "the counts are still watched";
    watcher.reset();
    EXPECT_EQ(from_.live(), 0u);
}

TEST_F(stl_allocators, constructors_that_throw_leave_no_block_behind) {
    struct thrower {
        thrower() {
            if (++made == 5) throw made;
        }
        thrower(const thrower&) = default;
        int made_as = 0;
        static int& count() {
            static int all = 0;
            return all;
        }
        int& made = count();
    };
    using throwers = std::vector<thrower, recorded<thrower>>;
    EXPECT_THROW(throwers(10, recorded<thrower>(from_)), int);
    EXPECT_EQ(from_.requests(), 1u);
    EXPECT_EQ(from_.live(), 0u);
}

}
