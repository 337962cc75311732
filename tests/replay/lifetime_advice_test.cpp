// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What the rules say of programs with a known shape, and that one violation is enough.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "observe/replay/advice/counterfactual.hpp"
#include "observe/replay/advice/lifetime_advice.hpp"
#include "replay/made_trace.hpp"

namespace {

using namespace tenure::lab;

/// What is said of the group with most blocks.
struct advised {
    explicit advised(trace made)
        : recorded(std::move(made)), lives(lives_of(recorded)), group(groups_of(recorded, lives).front()),
          found(advise(recorded, group, lives)) {}

    [[nodiscard]] advice_kind kind() const {
        return found.fits.empty() ? advice_kind::leave_alone : found.fits.front().kind;
    }
    [[nodiscard]] bool offers(advice_kind kind) const {
        for (const lifetime_advice& each : found.fits)
            if (each.kind == kind) return true;
        return false;
    }

    trace recorded;
    std::vector<block_life> lives;
    block_group group;
    group_advice found;
};

TEST(lifetime_advice, blocks_of_one_call_fit_temp_in_the_function_that_frees_them) {
    const advised one(made::scratch_program(400, 20, ~0U));
    ASSERT_EQ(one.kind(), advice_kind::temp) << one.found.refusal;
    const lifetime_advice& advice = one.found.fits.front();
    EXPECT_EQ(advice.where, scope_place::function);
    EXPECT_EQ(advice.scope_frame, 2U) << "work() may have returned before main() goes on: main() is certain";
    EXPECT_EQ(advice.violations, 0U);
    EXPECT_EQ(advice.degree, confidence::medium);
    EXPECT_EQ(advice.learned_on + advice.checked_on, one.group.blocks.size());
    EXPECT_DOUBLE_EQ(one.group.lifo_share, 1);
    EXPECT_EQ(one.group.peak_blocks, 20U);
    EXPECT_EQ(one.group.bursts.size(), 400U);
}

TEST(lifetime_advice, one_call_site_in_an_unknown_loop_is_no_place_for_a_scope) {
    made::program program;
    const std::uint32_t stack = program.stack({made::list_code, made::work_code, made::main_code});
    for (int i = 0; i < 1000; ++i) program.free(program.allocate(100 + static_cast<std::uint64_t>(i) % 7 * 40, stack));
    EXPECT_FALSE(advised(program.take()).offers(advice_kind::temp));
}

TEST(lifetime_advice, one_block_that_outlives_the_scope_refuses_temp) {
    const advised one(made::scratch_program(400, 20, 300));
    EXPECT_FALSE(one.offers(advice_kind::temp));
    EXPECT_NE(one.found.refusal.find("outlive the scope"), std::string::npos) << one.found.refusal;
}

TEST(lifetime_advice, without_stacks_frames_and_marks_nobody_knows_where_a_scope_stands) {
    const advised one(made::scratch_program(400, 20, ~0U, false));
    EXPECT_FALSE(has_stacks(one.recorded));
    EXPECT_NE(one.group.size_class, every_size);
    EXPECT_FALSE(one.offers(advice_kind::temp));
    EXPECT_NE(one.found.refusal.find("does not tell where a scope could stand"), std::string::npos)
        << one.found.refusal;
}

TEST(lifetime_advice, blocks_of_one_frame_fit_temp_until_the_frame_ends) {
    const advised one(made::frame_program(200, 20, 0));
    ASSERT_EQ(one.kind(), advice_kind::temp) << one.found.refusal;
    EXPECT_EQ(one.found.fits.front().where, scope_place::frame);
}

TEST(lifetime_advice, blocks_of_a_few_frames_fit_temp_job) {
    const advised one(made::frame_program(200, 20, 3));
    EXPECT_EQ(one.kind(), advice_kind::temp_job) << one.found.refusal;
    EXPECT_EQ(one.group.frames.longest, 3U);
    EXPECT_FALSE(one.offers(advice_kind::temp));
}

TEST(lifetime_advice, one_block_of_ten_frames_refuses_temp_job) {
    EXPECT_FALSE(advised(made::frame_program(200, 20, 3, 150)).offers(advice_kind::temp_job));
    EXPECT_FALSE(advised(made::frame_program(200, 20, 0, 150)).offers(advice_kind::temp));
}

TEST(lifetime_advice, a_thread_that_ends_no_frames_has_no_temp_that_ends_with_them) {
    const advised one(made::frame_program(200, 20, 0, ~0U, 1));
    EXPECT_FALSE(one.offers(advice_kind::temp));
    EXPECT_TRUE(one.offers(advice_kind::temp_job)) << "any thread's next_frame() ends it";
    EXPECT_NE(one.found.refusal.find("does not end frames"), std::string::npos) << one.found.refusal;
}

TEST(lifetime_advice, frames_of_several_threads_end_no_temp) {
    trace recorded = made::frame_program(200, 20, 0);
    recorded.events.push_back(recorded.events.back());
    ASSERT_EQ(recorded.events.back().call, trace_call::frame);
    recorded.events.back().thread = 1;
    recorded.threads = 2;
    const advised one(std::move(recorded));
    EXPECT_FALSE(one.offers(advice_kind::temp));
    EXPECT_NE(one.found.refusal.find("several threads end frames"), std::string::npos) << one.found.refusal;
}

TEST(lifetime_advice, nodes_of_one_size_fit_a_pool) {
    const advised one(made::node_program(5000, 100));
    ASSERT_EQ(one.kind(), advice_kind::pool) << one.found.refusal;
    EXPECT_EQ(one.found.fits.front().room_bytes, 48U);
    EXPECT_EQ(one.group.peak_blocks, 101U);
    EXPECT_DOUBLE_EQ(one.group.common_share, 1);
}

TEST(lifetime_advice, nodes_that_threads_exchange_fit_a_shared_pool) {
    const advised one(made::node_program(5000, 100, ~0U, 2));
    EXPECT_EQ(one.kind(), advice_kind::shared_pool) << one.found.refusal;
    EXPECT_LT(one.group.same_thread_share, 0.7);
}

TEST(lifetime_advice, one_node_that_is_larger_refuses_the_pool) {
    const advised one(made::node_program(5000, 100, 4000));
    EXPECT_EQ(one.kind(), advice_kind::leave_alone);
    EXPECT_NE(one.found.refusal.find("it seems to fit a pool, but 1 of the"), std::string::npos) << one.found.refusal;
    // By size, the others fit.
    const std::vector<block_group> parts = by_size_class(one.recorded, one.group, one.lives);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].blocks.size(), 4999U);
    EXPECT_EQ(advise(one.recorded, parts[0], one.lives).fits.front().kind, advice_kind::pool);
}

TEST(lifetime_advice, sizes_that_change_in_the_second_half_refuse_the_pool_in_words) {
    for (const std::uint64_t later : {std::uint64_t{8}, std::uint64_t{4000}}) {
        made::program program;
        const std::uint32_t stack = program.stack({made::list_code + 8, made::main_code + 4, made::start_code});
        std::uint64_t last = program.allocate(48, stack);
        for (int i = 1; i < 2000; ++i) {
            const std::uint64_t next = program.allocate(i < 1000 ? 48 : later, stack);
            program.free(last);
            last = next;
        }
        const advised one(program.take());
        EXPECT_FALSE(one.offers(advice_kind::pool));
        EXPECT_NE(one.found.refusal.find("it seems to fit a pool"), std::string::npos) << one.found.refusal;
        EXPECT_NE(one.found.refusal.find(later == 8 ? "are smaller" : "1000 of the 1000"), std::string::npos)
            << one.found.refusal;
    }
}

const lifetime_advice* arena_of(const advised& one) {
    for (const lifetime_advice& each : one.found.fits)
        if (each.kind == advice_kind::arena) return &each;
    return nullptr;
}

TEST(lifetime_advice, documents_that_are_freed_as_a_whole_fit_an_arena_in_the_function_that_ends_them) {
    const advised one(made::document_program(100, 300));
    ASSERT_NE(arena_of(one), nullptr) << one.found.refusal;
    EXPECT_DOUBLE_EQ(one.group.together_share, 1);
    EXPECT_EQ(arena_of(one)->where, scope_place::function);
    EXPECT_EQ(arena_of(one)->scope_frame, 1U) << "work() goes on after each document";
}

TEST(lifetime_advice, an_arena_holds_a_few_blocks_that_are_freed_early) {
    const advised few(made::document_program(100, 300, 12)), many(made::document_program(100, 300, 20));
    EXPECT_NE(arena_of(few), nullptr) << few.found.refusal;
    EXPECT_DOUBLE_EQ(few.group.together_share, 0.96);
    EXPECT_EQ(arena_of(many), nullptr) << "six of a hundred";
}

TEST(lifetime_advice, an_arena_that_ends_last_in_the_trace_has_no_place) {
    // A tree that main() builds with calls of make_node(), and frees when nothing allocates any more.
    made::program program;
    const std::uint32_t stack = program.stack({made::list_code + 8, made::work_code + 4, made::main_code + 4});
    std::vector<std::uint64_t> nodes;
    for (std::uint64_t i = 0; i < 2000; ++i) nodes.push_back(program.allocate(24 + i % 200, stack));
    for (const std::uint64_t each : nodes) program.free(each);
    const advised one(program.take());
    ASSERT_NE(arena_of(one), nullptr) << one.found.refusal;
    EXPECT_EQ(arena_of(one)->where, scope_place::unknown) << "in make_node() each node would end with its own arena";
}

TEST(lifetime_advice, arrays_that_grow_are_reserved) {
    const advised one(made::growing_program(500, 8192));
    ASSERT_EQ(one.kind(), advice_kind::reserve) << one.found.refusal;
    EXPECT_EQ(one.found.fits.front().room_bytes, 8192U);
    EXPECT_EQ(one.group.resizes, 500U * 7);
}

TEST(lifetime_advice, blocks_that_stay_are_left_alone) {
    made::program program;
    for (int i = 0; i < 1000; ++i) program.allocate(100 + static_cast<std::uint64_t>(i) % 50 * 16);
    const advised one(program.take());
    EXPECT_EQ(one.kind(), advice_kind::leave_alone);
    EXPECT_FALSE(one.found.refusal.empty());
}

TEST(lifetime_advice, few_blocks_are_left_alone) {
    const advised one(made::node_program(20, 2));
    EXPECT_EQ(one.kind(), advice_kind::leave_alone);
    EXPECT_NE(one.found.refusal.find("too few"), std::string::npos);
}

TEST(block_groups, blocks_of_one_function_are_a_group_and_are_divided_by_caller) {
    made::program program;
    const std::uint32_t one = program.stack({made::list_code, made::work_code + 1, made::main_code}),
                        two = program.stack({made::list_code, made::work_code + 2, made::main_code}),
                        other = program.stack({made::other_code, made::main_code});
    for (int i = 0; i < 10; ++i) {
        program.allocate(16, one);
        program.allocate(500, two);
        program.allocate(16, other);
    }
    const trace recorded = program.take();
    const std::vector<block_life> lives = lives_of(recorded);
    const std::vector<block_group> groups = groups_of(recorded, lives);
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].blocks.size(), 20U);
    EXPECT_EQ(groups[0].depth, 1U) << "only the innermost frame is common";
    EXPECT_EQ(groups[0].stacks, 2U);
    EXPECT_EQ(groups[1].depth, 2U) << "one stack is common as a whole";
    const std::vector<block_group> callers = by_caller(recorded, groups[0], lives);
    ASSERT_EQ(callers.size(), 2U);
    for (const block_group& each : callers) {
        EXPECT_EQ(each.blocks.size(), 10U);
        EXPECT_EQ(each.depth, 3U);
        EXPECT_EQ(each.smallest, each.largest);
        EXPECT_TRUE(by_caller(recorded, each, lives).empty());
    }
}

TEST(block_groups, classes_cover_all_sizes_without_gaps) {
    std::uint32_t before = size_class_of(0);
    std::uint64_t smallest = 1; // of the class
    EXPECT_EQ(before, size_class_of(1));
    for (std::uint64_t bytes = 1; bytes < 100'000; ++bytes) {
        const std::uint32_t is = size_class_of(bytes);
        ASSERT_TRUE(is == before || is == before + 1) << bytes;
        if (is != before) smallest = bytes;
        ASSERT_LE(bytes, smallest + std::max<std::uint64_t>(smallest / 4, 16)) << "a class is no wider";
        before = is;
    }
}

TEST(paired_estimate, the_interval_holds_the_median_with_95_percent) {
    const std::vector<double> five{1, 2, 3, 4, 5};
    EXPECT_TRUE(std::isnan(estimate_of(five).low)) << "five rounds cannot";
    const std::vector<double> seven{7, 6, 5, 4, 3, 2, 1};
    EXPECT_EQ(estimate_of(seven).median, 4);
    EXPECT_EQ(estimate_of(seven).low, 1);
    EXPECT_EQ(estimate_of(seven).high, 7);
    const std::vector<double> nine{1, 2, 3, 4, 5, 6, 7, 8, 9};
    EXPECT_EQ(estimate_of(nine).low, 2);
    EXPECT_EQ(estimate_of(nine).high, 8);
    const std::vector<double> none{std::nan("")};
    EXPECT_EQ(estimate_of(none).rounds, 0U);
    EXPECT_FALSE(estimate_of(none).is_below(1));
    EXPECT_FALSE(estimate_of(five).is_below(100)) << "no interval, no proof";
}

TEST(paired_estimate, a_smaller_chance_needs_more_rounds_and_a_wider_interval) {
    EXPECT_EQ(least_rounds(), 6U);
    EXPECT_EQ(least_rounds(usual_chance / 24), 10U);
    const std::vector<double> nine{1, 2, 3, 4, 5, 6, 7, 8, 9};
    EXPECT_EQ(estimate_of(nine, 0.004).low, 1);
    EXPECT_TRUE(std::isnan(estimate_of(nine, usual_chance / 24).low));
}

TEST(paired_estimate, thousands_of_rounds_have_an_interval) {
    std::vector<double> many;
    for (int i = 0; i < 2000; ++i) many.push_back(i);
    const paired_estimate found = estimate_of(many);
    EXPECT_EQ(found.rounds, 2000U);
    // The normal distribution says 1000 - 1.96 * sqrt(500).
    EXPECT_NEAR(found.low, 956, 1);
    EXPECT_NEAR(found.high, 1043, 1);
}

}
