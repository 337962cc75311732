// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The loop in this process: every block holds its data until it ends, wherever it comes from.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include "observe/replay/advice/counterfactual.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/content_check.hpp"
#include "observe/replay/run/player.hpp"
#include "observe/replay/run/touch.hpp"
#include "replay/made_trace.hpp"
#include "support/process.hpp"

namespace {

std::size_t nothrow_calls = 0;

}

// The form that is a call more than the one that throws.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++nothrow_calls;
    try {
        return ::operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

namespace {

using namespace tenure::lab;

struct checked_replay {
    std::string wrong;
    std::uint64_t digest = 0, ended = 0;
};

checked_replay replayed(const replay_plan& plan) {
    EXPECT_EQ(plan.error, "");
    const plan_view view = view_of(plan);
    std::vector<void*> held(plan.slot_count + 1);
    redirects to(plan.routes);
    content_check around(plan.slot_count);
    player_state state;
    EXPECT_TRUE(play(view.of_thread(0), held.data(), to, around, state));
    EXPECT_TRUE(play(view.tail_of(0), held.data(), to, around, state));
    for (void* const each : held) EXPECT_EQ(each, nullptr);
    EXPECT_EQ(around.misaligned(), 0U);
    return {std::string(around.wrong()), around.digest(), around.ended()};
}

TEST(player, every_block_holds_its_data_until_it_is_freed) {
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
        const checked_replay found = replayed(make_plan(made::mixed_program(4000, seed, 2)));
        EXPECT_EQ(found.wrong, "") << seed;
        EXPECT_GT(found.ended, 1000U);
    }
}

/// The whole first group of a trace, redirected.
struct redirected_trace {
    trace recorded;
    std::vector<block_life> lives = lives_of(recorded);
    std::vector<block_group> groups = groups_of(recorded, lives);

    [[nodiscard]] replay_plan with(lifetime_advice advice) const {
        const redirected_group one{&groups.front(), std::move(advice)};
        return make_plan(recorded, plan_threads::folded, routes_for(recorded, {&one, 1}));
    }
};

lifetime_advice advice_of(advice_kind kind, scope_place where, std::uint64_t room = 0) {
    lifetime_advice made;
    made.kind = kind;
    made.where = where;
    made.room_bytes = room;
    return made;
}

/// The scopes of Temp that the first group fits.
lifetime_advice temp_of(const trace& recorded) {
    const std::vector<block_life> lives = lives_of(recorded);
    const group_advice found = advise(recorded, groups_of(recorded, lives).front(), lives);
    EXPECT_FALSE(found.fits.empty()) << found.refusal;
    EXPECT_EQ(found.fits.front().kind, advice_kind::temp);
    return found.fits.front();
}

TEST(player, redirected_blocks_end_with_the_same_data) {
    const std::vector<std::pair<trace, lifetime_advice>> cases{
        {made::scratch_program(200, 20, ~0U), temp_of(made::scratch_program(200, 20, ~0U))},
        {made::frame_program(100, 30, 0), advice_of(advice_kind::temp, scope_place::frame)},
        {made::frame_program(100, 30, 3), advice_of(advice_kind::temp_job, scope_place::frame)},
        {made::node_program(5000, 100), advice_of(advice_kind::pool, scope_place::unknown, 48)},
        {made::node_program(5000, 100, ~0U, 2), advice_of(advice_kind::shared_pool, scope_place::unknown, 48)},
        {made::node_program(5000, 100, ~0U, 1, trace_family::zeroed),
         advice_of(advice_kind::pool, scope_place::unknown, 48)},
        {made::document_program(50, 200), advice_of(advice_kind::arena, scope_place::unknown)},
        {made::growing_program(200, 8192), advice_of(advice_kind::reserve, scope_place::unknown, 8192)},
        {made::growing_program(200, 8192), advice_of(advice_kind::reserve, scope_place::unknown, 1000)},
    };
    for (const auto& [recorded, advice] : cases) {
        SCOPED_TRACE(std::string(name_of(advice.kind)));
        const redirected_trace one{recorded};
        const checked_replay before = replayed(make_plan(recorded)), after = replayed(one.with(advice));
        EXPECT_EQ(before.wrong, "");
        EXPECT_EQ(after.wrong, "");
        EXPECT_EQ(before.digest, after.digest);
        EXPECT_EQ(before.ended, after.ended);
    }
}

TEST(player, a_block_that_outlives_its_memory_is_found) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer finds it first";
    // Frames end Temp's memory, and these blocks live for three of them.
    const redirected_trace one{made::frame_program(50, 30, 3)};
    const checked_replay found = replayed(one.with(advice_of(advice_kind::temp, scope_place::frame)));
    EXPECT_EQ(found.wrong, wrong_contents);
}

TEST(player, calloc_of_a_pool_is_zero_although_its_blocks_were_used) {
    const redirected_trace one{made::node_program(5000, 100, ~0U, 1, trace_family::zeroed)};
    replay_plan plan = one.with(advice_of(advice_kind::pool, scope_place::unknown, 48));
    EXPECT_EQ(std::count_if(plan.ops.begin(), plan.ops.end(),
                            [](const plan_op& each) { return each.call == plan_call::take_zeroed; }),
              5000);
    EXPECT_EQ(replayed(plan).wrong, "");
}

TEST(player, operator_new_that_has_no_memory_ends_the_replay) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer ends the process instead";
    made::program program;
    program.free(program.allocate(std::uint64_t{1} << 46, 0, 0, trace_family::operator_new));
    const replay_plan plan = make_plan(program.take());
    std::vector<void*> held(plan.slot_count + 1);
    redirects to(plan.routes);
    bare_around around;
    player_state state;
    EXPECT_FALSE(play(view_of(plan).of_thread(0), held.data(), to, around, state));
    EXPECT_EQ(held[0], nullptr);
}

TEST(player, operator_new_is_called_as_programs_call_it) {
    made::program program;
    for (int i = 0; i < 100; ++i) program.free(program.allocate(50, 0, 0, trace_family::operator_new));
    const replay_plan plan = make_plan(program.take());
    nothrow_calls = 0;
    static_cast<void>(replayed(plan));
    EXPECT_EQ(nothrow_calls, 0U);
}

TEST(player, other_contents_give_another_digest) {
    EXPECT_NE(replayed(make_plan(made::node_program(500, 10))).digest,
              replayed(make_plan(made::node_program(500, 11))).digest);
}

TEST(player, each_policy_writes_what_it_says) {
    std::array<unsigned char, 3 * touched_page_bytes> block{};
    const auto written = [&](auto touch_it) {
        block.fill(0);
        touch_it();
        return std::count_if(block.begin(), block.end(), [](unsigned char byte) { return byte != 0; });
    };
    EXPECT_EQ(written([&] { touch<touch_policy::none>(block.data(), 0, block.size()); }), 0);
    EXPECT_EQ(written([&] { touch<touch_policy::pages>(block.data(), 0, block.size()); }), 3);
    EXPECT_EQ(written([&] { touch<touch_policy::ends>(block.data(), 0, block.size()); }), 8 + 8 + 2);
    EXPECT_EQ(written([&] { touch<touch_policy::ends>(block.data(), 0, 3); }), 2);
    EXPECT_EQ(written([&] { touch<touch_policy::ends>(block.data(), 0, 1); }), 1);
    EXPECT_EQ(written([&] { touch<touch_policy::whole>(block.data(), 0, 1000); }), 1000);
    EXPECT_EQ(written([&] { touch<touch_policy::whole>(block.data(), 0, 0); }), 0);
    // What a realloc added is written, and what was there before is not.
    EXPECT_EQ(written([&] { touch<touch_policy::whole>(block.data(), 600, 1000); }), 400);
    EXPECT_EQ(written([&] { touch<touch_policy::ends>(block.data(), 600, 5000); }), 8 + 8 + 1);
    EXPECT_EQ(written([&] { touch<touch_policy::pages>(block.data(), 600, 4000); }), 0)
        << "the page was written before";
    EXPECT_EQ(written([&] { touch<touch_policy::whole>(block.data(), 1000, 600); }), 0);
    EXPECT_EQ(touch_named("ends"), touch_policy::ends);
    EXPECT_FALSE(touch_named("some").has_value());
}

}
