// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <set>
#include <vector>

#include "bench/harness/experiment.hpp"
#include "bench/harness/machine/memory.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

TEST(measure, the_random_numbers_are_those_of_splitmix64) {
    random_source random(1234567); // the reference's first outputs for this seed
    EXPECT_EQ(random(), 6457827717110365317u);
    EXPECT_EQ(random(), 3203168211198807973u);
}

TEST(measure, a_shuffle_keeps_every_value_and_depends_on_the_seed_alone) {
    std::vector<int> first(100), second(100);
    for (int i = 0; i < 100; ++i) first[static_cast<std::size_t>(i)] = second[static_cast<std::size_t>(i)] = i;
    random_source one(9), same(9);
    shuffle(std::span{first}, one);
    shuffle(std::span{second}, same);
    EXPECT_EQ(first, second);
    EXPECT_EQ(std::set<int>(first.begin(), first.end()).size(), 100u);
    EXPECT_NE(first[0] == 0 && first[1] == 1 && first[2] == 2, true);
}

TEST(measure, the_median_is_the_middle_value) {
    std::vector<double> odd{9, 1, 5};
    EXPECT_EQ(median_of(odd), 5);
    EXPECT_EQ(median_of({}), 0);
}

TEST(measure, a_page_array_is_in_memory_before_it_is_used) {
    const page_array<int> numbers(100'000);
    const std::size_t pages = (numbers.size() * sizeof(int) + 4095) / 4096;
    std::vector<unsigned char> there(pages);
    ASSERT_EQ(::mincore(numbers.data(), pages * 4096, there.data()), 0);
    for (unsigned char page : there) EXPECT_EQ(page & 1, 1);
}

TEST(measure, a_stopwatch_never_reads_below_zero) {
    for (int i = 0; i < 1000; ++i) EXPECT_GE(stopwatch().elapsed_ns(), 0);
}

TEST(memory, what_is_touched_counts_and_what_is_given_back_does_not) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer's shadow memory counts as well";
    const memory_meter meter;
    {
        const page_array<char> block(std::size_t{32} << 20);
        EXPECT_NEAR(meter.resident_mib(), 32, 1);
    }
    EXPECT_LT(meter.resident_mib(), 1);
    EXPECT_NEAR(meter.peak_mib(), 32, 3);
}

TEST(parameters, defaults_full_sizes_and_given_values) {
    constexpr std::array<option_spec, 2> options{{{"count", 10, 100, 1, 1000, "x"}, {"bytes", 4, 4, 1, 8, "y"}}};
    parameters plain(options);
    EXPECT_EQ(plain["count"], 10);
    EXPECT_EQ(parameters(options, true)["count"], 100);
    plain.set("bytes", 8);
    EXPECT_EQ(plain["bytes"], 8);
    EXPECT_EQ(plain.size("bytes"), 8u);
}

TEST(parameters_death_test, an_option_that_was_never_declared_is_a_bug) {
    EXPECT_DEATH(static_cast<void>(parameters{}["nothing"]), "which it does not declare");
}

}
