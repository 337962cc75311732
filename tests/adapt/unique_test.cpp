// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/adapt/unique.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/arena/arena.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/block_pool.hpp>

#include "adapt/recording_allocator.hpp"
#include "adapt/values.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using adapt::counted;
using adapt::recording_allocator;
using tenure::make_unique_in;
using tenure::unique;

struct alignas(256) over_aligned {
    unsigned char bytes[300];
};
struct nothing {};

struct counted_by_default {
    static inline int alive = 0;
    int value = 7;
    counted_by_default() noexcept { ++alive; }
    ~counted_by_default() { --alive; }
};

static_assert(sizeof(unique<int, tenure::temp_job>) == sizeof(void*));
static_assert(sizeof(unique<std::string, tenure::temp>) == sizeof(void*));
static_assert(sizeof(unique<int, tenure::arena>) == 2 * sizeof(void*));
static_assert(std::is_empty_v<tenure::allocator_delete<int, tenure::temp_job>>);
static_assert(std::is_default_constructible_v<unique<int, tenure::temp_job>>);
static_assert(std::is_nothrow_default_constructible_v<unique<int, tenure::arena>>);
static_assert(std::is_nothrow_default_constructible_v<unique<int[], tenure::arena>>);
static_assert(std::is_nothrow_default_constructible_v<unique<int, recording_allocator>>);
static_assert(!std::is_copy_constructible_v<unique<int, tenure::arena>>);
static_assert(std::is_nothrow_move_constructible_v<unique<int, tenure::arena>>);
static_assert(std::is_nothrow_move_assignable_v<unique<counted, tenure::temp_job>>);

// A base's size is not the object's: the conversion that std::unique_ptr has is not there.
struct derived_from_nothing : nothing {
    int more = 0;
};
static_assert(!std::is_convertible_v<unique<derived_from_nothing, tenure::arena>, unique<nothing, tenure::arena>>);
static_assert(
    !std::is_convertible_v<unique<derived_from_nothing, tenure::temp_job>, unique<nothing, tenure::temp_job>>);

static_assert(noexcept(make_unique_in<int>(std::declval<tenure::arena&>(), 1)));
static_assert(!noexcept(make_unique_in<counted>(std::declval<tenure::arena&>(), 1)));

class uniques : public testing::Test {
protected:
    ~uniques() override {
        EXPECT_EQ(from_.fault(), "");
        EXPECT_EQ(from_.live(), 0u);
        EXPECT_EQ(counted::alive, 0);
    }
    recording_allocator from_;
};

TEST_F(uniques, an_object_is_made_and_goes_with_its_pointer) {
    {
        const auto one = make_unique_in<counted>(from_, 7);
        ASSERT_NE(one, nullptr);
        EXPECT_EQ(one->value, 7);
        EXPECT_TRUE(from_.owns(one.get()));
        EXPECT_EQ(from_.last_bytes(), sizeof(counted));
        EXPECT_EQ(from_.last_alignment(), alignof(counted));
        EXPECT_EQ(counted::alive, 1);
    }
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(from_.live(), 0u);
}

TEST_F(uniques, sizes_and_alignments_go_back_as_they_came) {
    const auto large = make_unique_in<over_aligned>(from_);
    const auto empty = make_unique_in<nothing>(from_);
    const auto text = make_unique_in<std::string>(from_, 1000u, 'x');
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.get()) % alignof(over_aligned), 0u);
    EXPECT_NE(empty, nullptr);
    EXPECT_EQ(text->size(), 1000u);
    EXPECT_EQ(from_.live(), 3u);
}

TEST_F(uniques, a_moved_pointer_owns_and_the_one_it_came_from_is_empty) {
    auto first = make_unique_in<counted>(from_, 1);
    counted* const object = first.get();
    auto second = std::move(first);
    EXPECT_EQ(first, nullptr); // NOLINT(bugprone-use-after-move): what is asked is what is left
    EXPECT_EQ(second.get(), object);
    auto third = make_unique_in<counted>(from_, 3);
    EXPECT_EQ(counted::alive, 2);
    third = std::move(second);
    EXPECT_EQ(third.get(), object);
    EXPECT_EQ(counted::alive, 1);
    EXPECT_EQ(from_.live(), 1u);
}

TEST_F(uniques, a_move_takes_the_allocator_along) {
    recording_allocator other;
    auto one = make_unique_in<counted>(from_, 1);
    auto two = make_unique_in<counted>(other, 2);
    one.swap(two);
    EXPECT_EQ(one->value, 2);
    one.reset();
    EXPECT_EQ(other.live(), 0u);
    one = std::move(two);
    EXPECT_EQ(from_.live(), 1u);
    one.reset();
    EXPECT_EQ(from_.live(), 0u);
    EXPECT_EQ(other.fault(), "");
}

TEST_F(uniques, reset_gives_back_at_once_and_release_does_not) {
    auto one = make_unique_in<counted>(from_, 1);
    one.reset();
    EXPECT_EQ(one, nullptr);
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(from_.live(), 0u);
    one.reset();
    one = make_unique_in<counted>(from_, 2);
    const auto back = one.get_deleter();
    counted* const object = one.release();
    EXPECT_EQ(counted::alive, 1);
    back(object);
    EXPECT_EQ(counted::alive, 0);
    one = make_unique_in<counted>(from_, 3);
    one = nullptr;
}

TEST_F(uniques, a_constructor_that_throws_gives_its_memory_back) {
    EXPECT_THROW(static_cast<void>(make_unique_in<counted>(from_, -1)), int);
    EXPECT_EQ(from_.requests(), 1u);
    EXPECT_EQ(from_.live(), 0u);

    tenure::arena scratch;
    static_cast<void>(scratch.allocate(100));
    const std::size_t before = scratch.stats().live_bytes;
    for (int count = 0; count < 1000; ++count)
        EXPECT_THROW(static_cast<void>(make_unique_in<counted>(scratch, -1)), int);
    EXPECT_LT(scratch.stats().live_bytes, before + alignof(counted));

    tenure::block_pool pool(sizeof(counted), alignof(counted));
    EXPECT_THROW(static_cast<void>(make_unique_in<counted>(pool, -1)), int);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());

    const std::size_t living = tenure::temp_job::stats().live_count;
    tenure::temp_job job;
    EXPECT_THROW(static_cast<void>(make_unique_in<counted>(job, -1)), int);
    EXPECT_EQ(tenure::temp_job::stats().live_count, living);
}

TEST_F(uniques, refused_memory_makes_an_empty_pointer_and_no_object) {
    const support::heard_reports heard; // checked builds report what is refused
    from_.allow(1);
    const auto one = make_unique_in<counted>(from_, 1);
    const auto two = make_unique_in<counted>(from_, 2);
    const auto never = make_unique_in<counted>(from_, -1);
    EXPECT_NE(one, nullptr);
    EXPECT_EQ(two, nullptr);
    EXPECT_EQ(never, nullptr) << "the constructor, which would throw, did not run";
    EXPECT_EQ(counted::alive, 1);
    EXPECT_EQ(from_.requests(), 3u);
    tenure::block_pool too_little(sizeof(counted) / 2, alignof(counted));
    EXPECT_EQ(make_unique_in<counted>(too_little, 1), nullptr);
    tenure::failing_source none(tenure::page_source::process(), 0);
    tenure::arena dry(none);
    EXPECT_EQ(make_unique_in<counted>(dry, 1), nullptr);
}

TEST_F(uniques, an_empty_one_can_be_filled_later) {
    from_.allow(0);
    auto one = make_unique_in<counted>(from_, 1);
    EXPECT_EQ(one, nullptr);
    from_.allow(1);
    one = make_unique_in<counted>(from_, 1);
    EXPECT_NE(one, nullptr);
    unique<counted, tenure::temp_job> nowhere;
    EXPECT_EQ(nowhere, nullptr);
    tenure::temp_job job;
    nowhere = make_unique_in<counted>(job, 2);
    EXPECT_TRUE(tenure::temp_job::owns(nowhere.get()));
}

TEST_F(uniques, one_that_names_no_allocator_takes_over_that_of_its_first_object) {
    struct level {
        unique<counted, recording_allocator> boss;
        unique<counted_by_default[], recording_allocator> crowd;
        unique<counted, tenure::arena> hero;
    };
    tenure::arena scratch;
    level here;
    EXPECT_EQ(here.boss, nullptr);
    here.boss.reset();
    here.hero = nullptr;
    here.boss = make_unique_in<counted>(from_, 1);
    here.crowd = make_unique_in<counted_by_default[]>(from_, 3);
    here.hero = make_unique_in<counted>(scratch, 2);
    const level moved = std::move(here);
    EXPECT_EQ(moved.boss->value + moved.hero->value, 3);
    EXPECT_EQ(moved.crowd.get_deleter().count(), 3u);
    EXPECT_EQ(from_.live(), 2u);
}

TEST_F(uniques, an_object_that_one_without_an_allocator_is_given_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    tenure::arena scratch;
    auto one = make_unique_in<int>(scratch, 1);
    auto other = make_unique_in<int>(from_, 2);
    {
        unique<int, tenure::arena> empty;
        empty.reset(one.get());
        unique<int, recording_allocator> also_empty;
        also_empty.reset(other.get());
        unique<int[], tenure::arena> array;
        array.reset(one.get());
    }
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 3u);
    EXPECT_NE(heard.last().find("names no allocator"), std::string::npos) << heard.last();
}

TEST_F(uniques, arguments_arrive_as_they_were_passed) {
    struct keeper {
        keeper(std::unique_ptr<int> given, int& referred, const std::string& text)
            : mine(std::move(given)), theirs(referred), length(text.size()) {}
        std::unique_ptr<int> mine;
        int& theirs;
        std::size_t length;
    };
    int outside = 1;
    const auto one = make_unique_in<keeper>(from_, std::make_unique<int>(5), outside, "four");
    one->theirs = 2;
    EXPECT_EQ(outside, 2);
    EXPECT_EQ(*one->mine, 5);
    EXPECT_EQ(one->length, 4u);
}

TEST_F(uniques, many_live_in_a_container_and_are_sorted) {
    std::vector<unique<counted, recording_allocator>> all;
    for (int count = 0; count < 300; ++count) all.push_back(make_unique_in<counted>(from_, count * 7919 % 300));
    std::sort(all.begin(), all.end(), [](const auto& left, const auto& right) { return left->value < right->value; });
    for (std::size_t index = 0; index < all.size(); ++index) EXPECT_EQ(all[index]->value, static_cast<int>(index));
    std::erase_if(all, [](const auto& each) { return each->value % 2 == 0; });
    EXPECT_EQ(from_.live(), 150u);
}

TEST_F(uniques, without_state_it_frees_on_whichever_thread_it_ends) {
    const std::size_t living = tenure::temp_job::stats().live_count;
    tenure::temp_job job;
    auto one = make_unique_in<counted>(job, 1);
    EXPECT_EQ(tenure::temp_job::stats().live_count, living + 1);
    support::on_fresh_thread([mine = std::move(one)]() mutable { mine.reset(); });
    EXPECT_EQ(tenure::temp_job::stats().live_count, living);
    EXPECT_EQ(counted::alive, 0);
}

TEST_F(uniques, the_newest_in_temp_or_an_arena_makes_room_again) {
    support::on_fresh_thread([] {
        tenure::temp scratch;
        const std::size_t before = tenure::temp::stats().used_bytes;
        for (int count = 0; count < 1000; ++count)
            EXPECT_NE((make_unique_in<std::array<char, 10'000>>(scratch)), nullptr);
        EXPECT_EQ(tenure::temp::stats().used_bytes, before);
    });
    tenure::arena scratch;
    for (int count = 0; count < 1000; ++count) EXPECT_NE((make_unique_in<std::array<char, 10'000>>(scratch)), nullptr);
    EXPECT_EQ(scratch.stats().source_blocks, 1u);
}

TEST_F(uniques, an_array_knows_its_length_and_is_destroyed_as_a_whole) {
    {
        const auto all = make_unique_in<counted_by_default[]>(from_, 5);
        ASSERT_NE(all, nullptr);
        EXPECT_EQ(all.get_deleter().count(), 5u);
        EXPECT_EQ(all[4].value, 7);
        EXPECT_EQ(from_.live(), 1u);
    }
    EXPECT_EQ(counted_by_default::alive, 0);
    EXPECT_EQ(from_.live(), 0u);
    tenure::unique<std::string[]> nothing;
    EXPECT_EQ(nothing.get_deleter().count(), 0u);
    nothing = make_unique_in<std::string[]>(tenure::process_memory{}, 2);
    EXPECT_EQ(nothing[1], "");
    EXPECT_EQ(make_unique_in<int[]>(from_, SIZE_MAX / 2), nullptr);
}

TEST_F(uniques, an_allocator_without_state_may_be_a_temporary_object) {
    const std::size_t living = tenure::temp_job::stats().live_count;
    {
        const auto one = make_unique_in<counted>(tenure::temp_job{}, 3);
        EXPECT_EQ(one->value, 3);
        EXPECT_EQ(tenure::temp_job::stats().live_count, living + 1);
    }
    EXPECT_EQ(tenure::temp_job::stats().live_count, living);
}

}
