// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What brings a run with millions of objects to an end: fewer repetitions of what is slow, and nobody who searches.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/experiments/pools/pools_contestant.hpp"
#include "bench/experiments/registry.hpp"
#include "bench/harness/page_array.hpp"
#include "experiments/broken_pools.hpp"
#include "experiments/kept_recorder.hpp"

namespace {

using namespace tenure::lab;

TEST(pools_bounds, repeating_stops_after_a_second_at_an_odd_count_of_three_or_more) {
    constexpr double late = 1.1e9, early = 0.9e9;
    for (const std::size_t repeated : std::initializer_list<std::size_t>{0, 1, 2, 4, 6}) {
        EXPECT_FALSE(may_stop(repeated, late)) << repeated;
    }
    for (const std::size_t repeated : std::initializer_list<std::size_t>{3, 5, 7}) {
        EXPECT_TRUE(may_stop(repeated, late)) << repeated;
        EXPECT_FALSE(may_stop(repeated, early)) << repeated;
    }
}

/// Takes its time over every hundredth destroy, and counts what it makes.
struct slow_pool : broken::sound<64> {
    using broken::sound<64>::sound;
    object* construct(int number) {
        ++made;
        return broken::sound<64>::construct(number);
    }
    void destroy(object* gone) {
        if (++destroyed % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{40});
        broken::sound<64>::destroy(gone);
    }
    static constexpr bool one_by_one = true;
    std::size_t made = 0, destroyed = 0;
};

template<class Adaptor>
std::size_t repetitions(Adaptor& pool, kept_recorder& found) {
    parameters options(pools_experiment.options);
    options.set("repeats", 11);
    const page_array<void*> objects(1000);
    population<Adaptor> all(pool, objects.all());
    EXPECT_GE(all.construct_all(), 0);
    const std::size_t before = pool.made;
    EXPECT_TRUE(measure_order({options, 5, 0, found}, all, free_order::random, "64 B"));
    return (pool.made - before) / objects.size();
}

TEST(pools_bounds, a_slow_scheme_repeats_three_times_and_its_row_says_so) {
    slow_pool pool(1000);
    kept_recorder found;
    EXPECT_EQ(repetitions(pool, found), 3u); // of 0.4 s each
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_NE(found.notes[0].find("fewer than 11 repetitions"), std::string::npos) << found.notes[0];
    EXPECT_GT(found.values.at("free, 64 B, warm, random"), 300'000) << "the median of three, each 400 us an object";
}

struct quick_pool : broken::sound<64> {
    using broken::sound<64>::sound;
    object* construct(int number) {
        ++made;
        return broken::sound<64>::construct(number);
    }
    std::size_t made = 0;
};

TEST(pools_bounds, a_quick_scheme_repeats_as_often_as_it_was_asked) {
    quick_pool pool(1000);
    kept_recorder found;
    EXPECT_EQ(repetitions(pool, found), 11u);
    EXPECT_TRUE(found.notes.empty());
}

template<std::size_t Bytes>
struct searching : broken::sound<Bytes> {
    using broken::sound<Bytes>::sound;
    static constexpr bool searches_when_freeing = true;
};

TEST(pools_bounds, a_search_is_left_out_of_suite_2_with_many_objects_and_of_nothing_else) {
    parameters few(pools_experiment.options), many(pools_experiment.options);
    few.set("objects", max_for_searching);
    many.set("objects", max_for_searching + 1);
    for (std::size_t part = 0; part < pools_experiment.parts.size(); ++part) {
        EXPECT_EQ(left_out_of_pool<searching>(few, part), "") << part;
        EXPECT_EQ(left_out_of_pool<searching>(many, part).empty(), suite_of_part(part) != pool_suite::whole) << part;
    }
    EXPECT_NE(left_out_of_pool<searching>(many, 3).find("200 000 objects"), std::string_view::npos);
    static_assert(max_for_searching == 200'000, "the sentence says the number");
}

TEST(pools_bounds, the_full_size_leaves_out_whoever_searches_and_repeats_often_enough) {
    const parameters full(pools_experiment.options, true);
    EXPECT_GE(full["repeats"], 3);
    EXPECT_EQ(full["repeats"] % 2, 1);
    for (const contestant& who : pools_experiment.contestants()) {
        if (who.run == nullptr || !who.name.starts_with("Loki")) continue;
        ASSERT_NE(who.left_out, nullptr) << who.name;
        EXPECT_FALSE(who.left_out(full, 3).empty()) << who.name;
        EXPECT_TRUE(who.left_out(parameters(pools_experiment.options), 3).empty()) << "at the default size it ends";
    }
}

/// Counts what is alive at once.
struct quadratic_pool : broken::sound<64> {
    explicit quadratic_pool(std::size_t max_alive) : broken::sound<64>(max_alive) { room = max_alive; }
    static constexpr std::size_t max_whole = 2000;
    static inline std::size_t room = 0;
};

kept_recorder run_quadratic(std::int64_t objects) {
    parameters options(pools_experiment.options);
    options.set("objects", objects);
    options.set("repeats", 3);
    kept_recorder found;
    run_whole<quadratic_pool>({options, 5, 0, found});
    EXPECT_EQ(found.failure, "");
    return found;
}

TEST(pools_bounds, a_quadratic_scheme_gets_as_many_objects_as_finish_and_its_row_says_so) {
    const kept_recorder many = run_quadratic(5000);
    EXPECT_EQ(quadratic_pool::room, 2000u);
    ASSERT_EQ(many.notes.size(), 1u);
    EXPECT_NE(many.notes[0].find("2000 objects instead of 5000"), std::string::npos) << many.notes[0];
    EXPECT_EQ(many.values.count("free, 64 B (2000 objects), warm, reverse"), 1u);
    for (const auto& [figure, value] : many.values) {
        EXPECT_NE(figure.find("(2000 objects)"), std::string::npos) << figure << " would be compared with the others'";
    }
}

TEST(pools_bounds, a_quadratic_scheme_with_few_objects_is_measured_like_the_others) {
    const kept_recorder few = run_quadratic(2000);
    EXPECT_EQ(quadratic_pool::room, 2000u);
    EXPECT_TRUE(few.notes.empty());
    EXPECT_EQ(few.values.count("all alive, 64 B"), 1u);
}

TEST(pools_bounds, the_difference_of_two_times_is_told_and_not_ranked) {
    const auto& unranked = pools_experiment.unranked;
    EXPECT_NE(std::find(unranked.begin(), unranked.end(), exchange_difference), unranked.end());
}

}
