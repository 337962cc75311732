// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// An allocator that breaks its promises fails in heap, large, fragmentation and latency, and a sound one does not.

#include <gtest/gtest.h>

#include <vector>

#include "bench/experiments/fragmentation/fragmentation_workload.hpp"
#include "bench/experiments/heap/heap_workload.hpp"
#include "bench/experiments/large/large_workload.hpp"
#include "bench/experiments/latency/latency_workload.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "experiments/broken_heaps.hpp"
#include "experiments/kept_recorder.hpp"

namespace {

using namespace tenure::lab;

using settings = std::initializer_list<std::pair<std::string_view, std::int64_t>>;

/// What one part of an experiment recorded, in this process.
template<class Allocator>
kept_recorder record(const experiment& chosen, settings few, void (*run)(const task&), std::size_t part) {
    kept_recorder found;
    parameters options(chosen.options);
    for (const auto& [name, value] : few) options.set(name, value);
    run({options, 5, part, found});
    return found;
}

template<class Allocator>
kept_recorder heap(std::size_t part) {
    return record<Allocator>(heap_experiment,
                             {{"live", 500}, {"steps", 500}, {"passes", 2}, {"objects", 1000}, {"refills", 2}},
                             run_heap<Allocator>, part);
}

template<class Allocator>
kept_recorder large(std::size_t part) {
    return record<Allocator>(large_experiment,
                             {{"largest-kib", 64},
                              {"volume-mib", 1},
                              {"live-mib", 1},
                              {"many-largest-kib", 64},
                              {"grown-mib", 1},
                              {"growths", 1},
                              {"megabytes", 1},
                              {"repeats", 3},
                              {"pattern-mib", 1},
                              {"pattern-blocks", 3},
                              {"wait-ms", 1}},
                             run_large<Allocator>, part);
}

template<class Allocator>
kept_recorder fragmentation() {
    return record<Allocator>(fragmentation_experiment, {{"live-mib", 1}, {"epochs", 5}, {"turnovers", 1}},
                             run_fragmentation<Allocator>, 0);
}

template<class Allocator>
kept_recorder latency() {
    return record<Allocator>(latency_experiment, {{"live", 200}, {"samples", 2000}}, run_latency<Allocator>,
                             latency_part::one_thread);
}

TEST(heap_check, a_sound_heap_passes_with_every_figure) {
    const kept_recorder one = heap<broken::sound_heap>(heap_part::one_thread);
    EXPECT_EQ(one.failure, "");
    EXPECT_EQ(one.shown, 500u);
    for (const char* name : {"in turn, 16 to 512 B, one thread", "alloc, 16 to 512 B, one thread",
                             "free, 16 to 512 B, one thread", "alloc, 16 to 512 B, one thread, cold",
                             "peak, 16 to 512 B, one thread", "after free, 16 to 512 B, one thread"}) {
        EXPECT_EQ(one.values.count(name), 1u) << name;
    }
    EXPECT_EQ(one.values.count("after trim, 16 to 512 B, one thread"), 0u) << "it has no such call";
    const kept_recorder refilled = heap<broken::whole_malloc>(heap_part::refill);
    EXPECT_EQ(refilled.failure, "");
    EXPECT_EQ(refilled.shown, 1000u);
    EXPECT_EQ(refilled.values.count("alloc after them, 64 B, random frees"), 1u);
    EXPECT_EQ(refilled.values.count("after trim, 64 B, random frees"), 1u);
}

TEST(heap_check, blocks_that_overlap_at_their_ends_are_seen) {
    EXPECT_EQ(heap<broken::narrow_heap>(heap_part::one_thread).failure, "two blocks overlapped");
    EXPECT_EQ(fragmentation<broken::narrow_heap>().failure.empty(), false);
    EXPECT_EQ(latency<broken::narrow_heap>().failure.empty(), false);
}

TEST(heap_check, blocks_that_are_not_aligned_are_seen) {
    constexpr std::string_view askew = "a block did not have the requested alignment";
    EXPECT_EQ(heap<broken::askew_heap>(heap_part::one_thread).failure, askew);
    EXPECT_EQ(heap<broken::askew_heap>(heap_part::refill).failure, askew);
    EXPECT_EQ(fragmentation<broken::askew_heap>().failure, askew);
    EXPECT_EQ(latency<broken::askew_heap>().failure, askew);
    EXPECT_EQ(large<broken::askew_heap>(large_part::one_at_a_time).failure, askew);
}

TEST(heap_check, the_proof_asks_the_allocator_itself) {
    EXPECT_EQ(heap<broken::denying_heap>(heap_part::one_thread).query, "denying_heap::owns");
    EXPECT_EQ(latency<broken::denying_heap>().query, "denying_heap::owns");
}

TEST(heap_check, a_failed_part_has_no_figure) {
    EXPECT_TRUE(heap<broken::narrow_heap>(heap_part::one_thread).values.empty());
    EXPECT_TRUE(latency<broken::askew_heap>().values.empty());
}

TEST(heap_check, every_part_of_large_passes_with_malloc) {
    for (std::size_t part = 0; part < large_experiment.parts.size(); ++part) {
        const kept_recorder found = large<broken::whole_malloc>(part);
        EXPECT_EQ(found.failure, "") << part;
        EXPECT_GT(found.shown, 0u) << part;
        EXPECT_GE(found.values.size(), 4u) << part;
    }
}

TEST(heap_check, a_block_that_loses_a_byte_when_it_grows_is_seen) {
    EXPECT_EQ(large<broken::forgetful_heap>(large_part::growth).failure,
              "a block that grew did not hold the data written to it");
}

TEST(heap_check, large_blocks_at_one_place_are_seen) {
    EXPECT_EQ(large<broken::one_place>(large_part::many).failure, wrong_contents);
    EXPECT_EQ(large<broken::one_place>(large_part::pattern).failure, wrong_contents);
    EXPECT_EQ(large<broken::one_place>(large_part::again_and_again).failure, "") << "one at a time they may lie there";
}

TEST(heap_check, what_stays_resident_after_a_wait_is_told) {
    const kept_recorder found = large<broken::whole_malloc>(large_part::pattern_and_wait);
    constexpr std::string_view variant = ", pattern of 003, the small blocks alive";
    for (const char* name : {"peak", "at once", "after a wait and two calls", "after trim"}) {
        EXPECT_EQ(found.values.count(std::string{name} + std::string{variant}), 1u) << name;
    }
}

TEST(heap_check, resident_is_told_over_the_whole_run) {
    const kept_recorder found = fragmentation<broken::whole_malloc>();
    EXPECT_EQ(found.failure, "");
    for (const char* name : {"25", "50", "75", "100"}) {
        EXPECT_EQ(found.values.count(fmt::format("resident after {} % of the run, 1 MiB alive", name)), 1u) << name;
    }
    EXPECT_GT(found.values.at("still alive, 1 MiB alive, then most of it freed"), 0);
}

TEST(heap_check, percentiles_do_not_fall_from_one_to_the_next) {
    const kept_recorder found = latency<broken::whole_malloc>();
    EXPECT_EQ(found.failure, "");
    for (const char* call : {"allocate, one thread", "free, one thread"}) {
        double before = 0;
        for (const percentile& each : percentiles) {
            const double value = found.values.at(fmt::format("{}, {}", each.name, call));
            EXPECT_GE(value, before) << each.name << ", " << call;
            before = value;
        }
    }
}

TEST(heap_check, a_percentile_is_the_least_that_so_many_calls_do_not_exceed) {
    EXPECT_EQ(place_of(percentiles[0], 100), 49u);
    EXPECT_EQ(place_of(percentiles[2], 100), 98u);
    EXPECT_EQ(place_of(percentiles[5], 100), 99u) << "of a hundred calls it is the worst";
    EXPECT_EQ(place_of(percentiles[5], 1'000'000), 999'989u) << "ten of a million are slower";
    EXPECT_EQ(place_of(percentiles[6], 1'000'000), 999'999u);
    EXPECT_EQ(place_of(percentiles[0], 1), 0u);
}

TEST(heap_check, percentiles_are_of_all_ticks_in_nanoseconds) {
    std::vector<std::uint32_t> ticks;
    for (std::uint32_t i = 1; i <= 1000; ++i) ticks.push_back(1001 - i);
    kept_recorder found;
    const parameters options(latency_experiment.options);
    tell_percentiles({options, 5, 0, found}, ticks, 0.5, "v");
    EXPECT_DOUBLE_EQ(found.values.at("p50, v"), 250);
    EXPECT_DOUBLE_EQ(found.values.at("p90, v"), 450);
    EXPECT_DOUBLE_EQ(found.values.at("p99.9, v"), 499.5);
    EXPECT_DOUBLE_EQ(found.values.at("worst, v"), 500);
}

TEST(heap_check, a_seed_makes_one_script) {
    random_source one(7), same(7), other(8);
    const auto words = [](const page_array<replacement>& script) {
        std::vector<std::size_t> made;
        for (const replacement& step : script.all()) made.push_back(step.slot * 1024 + step.bytes * 2 + step.handed);
        return made;
    };
    const auto script = words(make_script(1000, 100, 10, small_in_heap, one));
    EXPECT_EQ(script, words(make_script(1000, 100, 10, small_in_heap, same)));
    EXPECT_NE(script, words(make_script(1000, 100, 10, small_in_heap, other)));
}

TEST(heap_check, a_script_hands_over_the_share_that_was_asked_for) {
    random_source random(7);
    const page_array<replacement> script = make_script(100'000, 100, 10, small_in_heap, random);
    std::size_t handed = 0;
    for (const replacement& step : script.all()) {
        EXPECT_LT(step.slot, 100u);
        EXPECT_GE(step.bytes, small_in_heap.smallest);
        EXPECT_LE(step.bytes, small_in_heap.largest);
        handed += std::size_t{step.handed};
    }
    EXPECT_NEAR(static_cast<double>(handed), 10'000, 500);
}

TEST(heap_check, a_servers_sizes_have_the_mean_that_is_reckoned_with) {
    random_source random(7);
    for (const double scale : {1.0, 4.0, 8.0}) {
        constexpr std::size_t count = 200'000;
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += server_bytes(random, scale);
        const double mean = static_cast<double>(mean_server_bytes(scale));
        EXPECT_NEAR(sum / count, mean, mean / 20) << scale;
    }
}

}
