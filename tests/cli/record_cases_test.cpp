// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure record`: calls that are recorded otherwise than most.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/recorded_programs.hpp"

namespace {

namespace fs = std::filesystem;
using tenure::lab::load_trace;
using tenure::lab::trace;
using tenure::lab::trace_call;
using tenure::lab::trace_event;
using tenure::lab::trace_family;

class record_cases : public recorded_programs {
protected:
    [[nodiscard]] static std::string cases() { return program("record_cases_program"); }
    [[nodiscard]] static std::string plugin() { return program("recorded_plugin.so"); }
};

/// From the allocation of the block of this size to its free.
std::uint64_t lifetime_ns(const trace& of, std::uint64_t bytes) {
    std::uint64_t begin = 0;
    for (const trace_event& each : of.events) {
        if (each.bytes != bytes) continue;
        if (each.call == trace_call::allocate) begin = each.time_ns;
        if (each.call == trace_call::deallocate) return each.time_ns - begin;
    }
    return 0;
}

TEST_F(record_cases, a_block_has_lived_as_long_as_the_program_has_waited) {
    ASSERT_EQ(record("-o t", cases() + " times").code, 0);
    const trace found = load("t");
    constexpr std::uint64_t least_ns = 49'900'000; // times are rounded down to some 25 us
    EXPECT_GE(lifetime_ns(found, 4001), least_ns);
    EXPECT_GE(lifetime_ns(found, 4002), least_ns) << "after a run of frees";
    for (std::uint64_t index = 0; index < 6; ++index)
        EXPECT_GE(lifetime_ns(found, 4010 + index), (index + 1) * least_ns) << "freed by another thread";
    for (std::uint64_t index = 0; index < 4; ++index)
        EXPECT_GE(lifetime_ns(found, 4020 + index), (index + 1) * least_ns) << "in a row of frees";
}

/// The stacks of the allocations and of the frees of blocks of this size.
struct stacks_of_size {
    stacks_of_size(const trace& of, std::uint64_t bytes) {
        for (const trace_event& each : of.events) {
            if (each.bytes != bytes) continue;
            if (each.call == trace_call::allocate) allocated.push_back(each.stack);
            if (each.call == trace_call::deallocate) freed.push_back(each.stack);
        }
    }
    std::vector<std::uint32_t> allocated, freed;
};

TEST_F(record_cases, each_free_has_its_stack) {
    ASSERT_EQ(record("-o t --stacks 32", cases() + " frees").code, 0);
    const trace found = load("t");
    EXPECT_TRUE(found.has_free_stacks);
    for (const trace_event& each : found.events)
        EXPECT_EQ(each.call == trace_call::deallocate && each.stack == 0, false) << each.bytes;
    const stacks_of_size loop(found, 8201);
    ASSERT_EQ(loop.freed.size(), 100u);
    EXPECT_EQ(std::set<std::uint32_t>(loop.freed.begin(), loop.freed.end()).size(), 1u) << "one place, one stack";
    for (const std::uint64_t bytes : {8201U, 8202U, 8203U, 8204U}) {
        const stacks_of_size each(found, bytes);
        ASSERT_FALSE(each.freed.empty()) << bytes;
        const std::vector<std::uint64_t>& allocated = found.stacks[each.allocated.front()].frames;
        const std::vector<std::uint64_t>& freed = found.stacks[each.freed.front()].frames;
        ASSERT_GE(std::min(allocated.size(), freed.size()), 2u) << bytes;
        EXPECT_NE(allocated, freed) << bytes;
        EXPECT_EQ(allocated.back(), freed.back()) << bytes << ": both lead to where the thread begins";
        EXPECT_NE(allocated.front(), freed.front()) << bytes;
    }
    const auto& allocated = found.stacks[loop.allocated.front()].frames;
    const auto& freed = found.stacks[loop.freed.front()].frames;
    ASSERT_EQ(allocated.size(), freed.size()) << "two functions that one function calls";
    EXPECT_TRUE(std::equal(allocated.begin() + 2, allocated.end(), freed.begin() + 2));
    EXPECT_NE(allocated[1], freed[1]);
}

TEST_F(record_cases, stacks_of_frees_can_be_left_out) {
    ASSERT_EQ(record("-o t --stacks 32 --no-free-stacks", cases() + " frees").code, 0);
    const trace found = load("t");
    EXPECT_FALSE(found.has_free_stacks);
    const stacks_of_size loop(found, 8201);
    EXPECT_NE(loop.allocated.front(), 0u);
    EXPECT_EQ(std::count(loop.freed.begin(), loop.freed.end(), 0u), 100);
}

TEST_F(record_cases, a_sample_is_as_large_with_operators_that_do_not_call_malloc) {
    const std::string dropin = library("libtenure_malloc.so");
    if (!fs::exists(dropin)) GTEST_SKIP() << "this tree has no drop-in";
    for (const std::string& preloaded : {std::string(), "LD_PRELOAD='" + dropin + "' "}) {
        const auto ran = run_in(folder_.string(), preloaded + "'" + command_path() + "' record -o t --sample 20K -- " +
                                                      cases() + " news");
        ASSERT_EQ(ran.code, 0) << ran.err;
        const trace found = load("t");
        // 200,000 blocks, of each 1 - exp(-1000 / 20,480): 9,530, with a standard deviation of 95.
        const std::size_t count = count_of(found, trace_call::allocate, 1000);
        EXPECT_GT(count, 8500u) << preloaded;
        EXPECT_LT(count, 10'500u) << preloaded;
        EXPECT_EQ(count_of(found, trace_call::deallocate, 1000), count);
    }
}

TEST_F(record_cases, a_sample_does_not_prefer_blocks_that_grow) {
    ASSERT_EQ(record("-o t --sample 100K", cases() + " grow").code, 0);
    const trace found = load("t");
    // 100 blocks, of each 1 - exp(-100,200 / 102,400): 62, with a standard deviation of 5.
    const auto is_grown = [](const trace_event& each) {
        return each.call == trace_call::allocate && each.bytes >= 100'000;
    };
    const auto count = std::count_if(found.events.begin(), found.events.end(), is_grown);
    EXPECT_GT(count, 30);
    EXPECT_LT(count, 95);
}

TEST_F(record_cases, an_unknown_block_that_is_deleted_counts_once) {
    ASSERT_EQ(record("-o t", cases() + " unknown").code, 0);
    const auto names = files("t");
    ASSERT_EQ(names.size(), 2u);
    EXPECT_EQ(load(names[1]).unknown_frees, 10u);
}

TEST_F(record_cases, each_form_is_recorded_as_it_was_called) {
    const auto ran = record("-o t", cases() + " forms");
    ASSERT_EQ(ran.code, 0) << ran.err;
    const trace found = load("t");
    struct expected {
        std::uint64_t bytes;
        trace_family family;
        std::uint64_t alignment;
    };
    for (const expected& each :
         {expected{5001, trace_family::aligned, 64}, expected{5002, trace_family::aligned, 128},
          expected{5003, trace_family::aligned, 4096}, expected{5004, trace_family::aligned, 4096},
          expected{5005, trace_family::malloc, 16}, expected{5006, trace_family::malloc, 16}}) {
        const auto event = std::find_if(found.events.begin(), found.events.end(),
                                        [&](const trace_event& one) { return one.bytes == each.bytes; });
        ASSERT_NE(event, found.events.end()) << each.bytes;
        EXPECT_EQ(event->call, trace_call::allocate) << each.bytes;
        EXPECT_EQ(event->family, each.family) << each.bytes;
        EXPECT_EQ(std::uint64_t{1} << event->alignment_log2, each.alignment) << each.bytes;
    }
    for (const std::uint64_t freed : {5001U, 5002U, 5003U, 5004U, 5005U, 5007U})
        EXPECT_EQ(count_of(found, trace_call::deallocate, freed), 1u) << freed;
    EXPECT_EQ(count_of(found, trace_call::resize, 5007), 1u) << "the refused one before it has left the block";
    EXPECT_EQ(count_of(found, trace_call::allocate, 5008), 0u);
    EXPECT_EQ(found.unknown_frees, 0u);
}

TEST_F(record_cases, a_program_may_clear_its_environment) {
    const auto ran = record("-o t", cases() + " clear");
    ASSERT_EQ(ran.code, 0);
    EXPECT_EQ(ran.err.find("TENURE_RECORD_FILE"), std::string::npos) << ran.err;
    const auto names = files("t");
    ASSERT_EQ(names.size(), 2u) << "the child of its fork is recorded";
    EXPECT_EQ(count_of(load(names[1]), trace_call::allocate, 888), 50u);
}

TEST_F(record_cases, plug_ins_have_mappings_whatever_their_end) {
    const auto is_plugin = [](const auto& each) { return each.path.ends_with("recorded_plugin.so"); };
    for (const auto& [word, code] : {std::pair{"plugin", 128 + 15}, std::pair{"unload", 0}}) {
        const auto ran = record("-o t --stacks 8", cases() + " " + word + " " + plugin());
        ASSERT_EQ(ran.code, code) << ran.err;
        const trace found = load("t");
        EXPECT_TRUE(std::any_of(found.mappings.begin(), found.mappings.end(), is_plugin)) << word;
        std::size_t inside = 0;
        for (const trace_event& each : found.events) {
            if (each.call != trace_call::allocate || each.bytes != 6000) continue;
            for (const std::uint64_t frame : found.stacks[each.stack].frames) {
                inside += static_cast<std::size_t>(
                    std::any_of(found.mappings.begin(), found.mappings.end(), [&](const auto& mapping) {
                        return is_plugin(mapping) && frame >= mapping.begin && frame < mapping.end;
                    }));
            }
        }
        EXPECT_EQ(inside, 10u) << word;
    }
}

TEST_F(record_cases, destructors_of_threads_and_signal_handlers_are_recorded) {
    ASSERT_EQ(record("-o t", cases() + " late").code, 0);
    const trace found = load("t");
    for (const auto& [bytes, count] : {std::pair{7000, 1U}, std::pair{7001, 1U}, std::pair{7002, 20U}}) {
        EXPECT_EQ(count_of(found, trace_call::allocate, static_cast<std::uint64_t>(bytes)), count) << bytes;
        EXPECT_EQ(count_of(found, trace_call::deallocate, static_cast<std::uint64_t>(bytes)), count) << bytes;
    }
}

TEST_F(record_cases, error_numbers_are_the_programs_own) {
    EXPECT_EQ(record("-o t --stacks 4", cases() + " errors " + plugin()).code, 0);
}

TEST_F(record_cases, a_program_behind_another_has_its_own_file) {
    if (run_in(".", "command -v env").code != 0) GTEST_SKIP() << "there is no env";
    const auto ran = record("-o t", "env " + program() + " threads");
    ASSERT_EQ(ran.code, 0) << ran.err;
    expect_words(ran.err, {"trace of the same process after exec: "});
    const auto names = files("t");
    ASSERT_EQ(names.size(), 2u);
    EXPECT_EQ(load(names[1]).threads, 301u);
}

}
