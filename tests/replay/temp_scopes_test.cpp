// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Where a scope of Temp may stand. A scope that ends before its blocks would be a use after free in the program.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/replay/advice/lifetime_advice.hpp"
#include "observe/replay/report/advice_words.hpp"
#include "replay/made_trace.hpp"

namespace {

using namespace tenure::lab;
using made::list_code, made::main_code, made::other_code, made::start_code, made::work_code;

/// The advice to use Temp for the group whose innermost frame this is; nothing when there is none.
struct temp_advice {
    temp_advice(const trace& recorded, std::uint64_t frame, const code_functions& functions = {}) {
        const std::vector<block_life> lives = lives_of(recorded);
        for (const block_group& group : groups_of(recorded, lives)) {
            if (group.stack != 0 && recorded.stacks[group.stack].frames.front() != frame) continue;
            const group_advice found = advise(recorded, group, lives, functions);
            refusal = found.refusal;
            for (const lifetime_advice& each : found.fits)
                if (each.kind == advice_kind::temp) all.push_back(each);
            break;
        }
    }
    [[nodiscard]] bool is_offered() const { return !all.empty(); }

    std::vector<lifetime_advice> all;
    std::string refusal;
};

constexpr std::uint64_t scratch_call = list_code + 8; // of made::scratch_program()

TEST(temp_scopes, a_block_that_a_function_returns_gets_no_scope_in_it) {
    // for (;;) { char* r = work(); use(r); free(r); }     work() { r = malloc(); t = malloc(); free(t); return r; }
    for (const bool begins_elsewhere : {false, true}) {
        made::program program;
        const std::uint32_t before = program.stack({work_code + 2, main_code + 4, start_code}),
                            returned = program.stack({work_code + 8, main_code + 4, start_code}),
                            own = program.stack({work_code + 20, main_code + 4, start_code});
        for (int i = 0; i < 400; ++i) {
            if (begins_elsewhere) program.free(program.allocate(40, before));
            const std::uint64_t block = program.allocate(64, returned);
            program.free(program.allocate(32, own));
            program.free(block);
        }
        const temp_advice found(program.take(), work_code + 8);
        EXPECT_FALSE(found.is_offered()) << begins_elsewhere;
        EXPECT_NE(found.refusal.find("does not tell where a scope could stand"), std::string::npos) << found.refusal;
    }
}

TEST(temp_scopes, a_block_that_lives_until_the_next_call_gets_no_scope) {
    // work() { free(kept); kept = malloc(); log(); }
    made::program program;
    const std::uint32_t kept = program.stack({work_code + 8, main_code + 4, start_code}),
                        logged = program.stack({work_code + 20, main_code + 4, start_code});
    std::uint64_t block = program.allocate(64, kept);
    for (int i = 0; i < 400; ++i) {
        program.free(program.allocate(32, logged));
        program.free(block);
        block = program.allocate(64, kept);
    }
    EXPECT_FALSE(temp_advice(program.take(), work_code + 8).is_offered());
}

TEST(temp_scopes, two_functions_that_one_call_reaches_are_not_one) {
    // for (handler* each : handlers) free(each->run());     one run() returns the block, the next allocates
    made::program program;
    const std::uint32_t returned = program.stack({list_code + 8, main_code + 4, start_code}),
                        other = program.stack({other_code + 8, main_code + 4, start_code});
    for (int i = 0; i < 400; ++i) {
        program.free(program.allocate(64, returned));
        program.free(program.allocate(32, other));
    }
    const code_functions functions = [](std::uint64_t address) { return address / 0x1000; };
    EXPECT_FALSE(temp_advice(program.take(), list_code + 8, functions).is_offered());
}

/// for (;;) { t = tok(next()); use(t); free(t); }     tok(q) { return q ? malloc() : malloc(); }
/// Each letter is a call: p takes the first branch, q the second.
trace branches(std::string_view calls, bool are_in_calls = false) {
    made::program program;
    std::vector<std::uint64_t> first{work_code + 8, main_code + 4, start_code},
        second{work_code + 20, main_code + 4, start_code};
    if (are_in_calls) {
        first.insert(first.begin(), list_code + 8);
        second.insert(second.begin(), other_code + 8);
    }
    const std::uint32_t p = program.stack(first), q = program.stack(second);
    for (int i = 0; i < 400; ++i)
        for (const char call : calls) program.free(program.allocate(64, call == 'p' ? p : q));
    return program.take();
}

TEST(temp_scopes, a_function_whose_calls_take_either_branch_gets_no_scope) {
    EXPECT_FALSE(temp_advice(branches("ppq"), work_code + 8).is_offered());
    EXPECT_FALSE(temp_advice(branches("pqq"), work_code + 8).is_offered());
    EXPECT_FALSE(temp_advice(branches("qpqpp"), work_code + 8).is_offered());
    EXPECT_FALSE(temp_advice(branches("pqq", true), list_code + 8).is_offered());
}

TEST(temp_scopes, what_the_trace_cannot_prove_is_said_and_is_at_most_of_medium_confidence) {
    const temp_advice found(branches("pq"), work_code + 8); // as a function that runs through both
    ASSERT_TRUE(found.is_offered()) << found.refusal;
    EXPECT_EQ(found.all.front().where, scope_place::function);
    EXPECT_LE(found.all.front().degree, confidence::medium);
    EXPECT_NE(scope_warning(found.all.front()).find("neither returns nor keeps them"), std::string_view::npos);
    const temp_advice surer(made::scratch_program(4000, 20, ~0U), scratch_call);
    ASSERT_TRUE(surer.is_offered());
    EXPECT_EQ(surer.all.front().degree, confidence::medium) << "however many blocks it was checked on";
}

TEST(temp_scopes, a_later_call_that_allocates_several_times_ends_a_scope) {
    // main() { for (;;) { parse(); show(); } }     show() allocates in two places, one after the other
    made::program program;
    const std::uint32_t own = program.stack({list_code + 8, main_code + 4, start_code}),
                        first = program.stack({other_code + 8, main_code + 40, start_code}),
                        second = program.stack({other_code + 30, main_code + 40, start_code});
    for (int i = 0; i < 400; ++i) {
        program.free(program.allocate(40, own));
        program.free(program.allocate(500, first));
        program.free(program.allocate(500, second));
    }
    const temp_advice found(program.take(), list_code + 8);
    ASSERT_TRUE(found.is_offered()) << found.refusal;
    EXPECT_EQ(found.all.front().scope_frame, 1U);
}

TEST(temp_scopes, a_block_of_one_of_the_last_calls_that_is_never_freed_refuses_the_scope) {
    const trace whole = made::scratch_program(400, 20, ~0U);
    ASSERT_TRUE(temp_advice(whole, scratch_call).is_offered());
    std::uint64_t block = 0; // the first of one of the last calls
    std::uint64_t calls = 0;
    for (std::size_t i = 0; i < whole.events.size() && calls < 398 * 20; ++i) {
        const trace_event& event = whole.events[i];
        if (event.call != trace_call::allocate || whole.stacks[event.stack].frames.front() != scratch_call) continue;
        block = event.block;
        ++calls;
    }
    const temp_advice found(made::without_free_of(whole, block), scratch_call);
    EXPECT_FALSE(found.is_offered());
    EXPECT_NE(found.refusal.find("outlive the scope"), std::string::npos) << found.refusal;
}

TEST(temp_scopes, a_program_may_end_in_a_scope) {
    trace recorded = made::scratch_program(400, 20, ~0U);
    while (recorded.events.back().call != trace_call::allocate || recorded.events.back().bytes >= 1024)
        recorded.events.pop_back();
    EXPECT_TRUE(temp_advice(recorded, scratch_call).is_offered());
}

TEST(temp_scopes, a_scope_holds_all_that_its_function_allocates_before_it_goes_on) {
    // main() { for (;;) { grow(); log(); } }     grow() allocates and frees one block after another
    const auto grow = [](std::uint64_t blocks, std::uint64_t bytes) {
        made::program program;
        const std::uint32_t own = program.stack({list_code + 8, work_code + 4, main_code + 4, start_code}),
                            logged = program.stack({other_code + 8, main_code + 40, start_code});
        for (int i = 0; i < 20; ++i) {
            for (std::uint64_t k = 0; k < blocks; ++k) program.free(program.allocate(bytes + k % 3, own));
            program.free(program.allocate(500, logged));
        }
        return temp_advice(program.take(), list_code + 8);
    };
    const temp_advice few = grow(1000, 200);
    ASSERT_TRUE(few.is_offered()) << few.refusal;
    EXPECT_EQ(few.all.front().scope_frame, 2U);
    EXPECT_EQ(few.all.front().scopes.size(), 20U) << "one for each call of grow(), and not for each block";
    EXPECT_EQ(few.all.front().scopes[1].begin, few.all.front().scopes[0].end + 2);
    const temp_advice large = grow(6000, 200);
    EXPECT_FALSE(large.is_offered()) << "1.2 MB in a scope, although each block is alone";
    EXPECT_NE(large.refusal.find("a scope that ends after them holds"), std::string::npos) << large.refusal;
    EXPECT_FALSE(grow(15'000, 16).is_offered()) << "30,000 events";
}

TEST(temp_scopes, stacks_that_may_be_cut_short_tell_nothing) {
    trace recorded = made::scratch_program(400, 20, ~0U);
    recorded.stack_frames = 5;
    EXPECT_TRUE(temp_advice(recorded, scratch_call).is_offered());
    recorded.stack_frames = 4;
    EXPECT_FALSE(temp_advice(recorded, scratch_call).is_offered()) << "outer frames may be missing";
}

/// Phases with ten blocks each.
trace phases(int count, bool leaks) {
    made::program program;
    for (int phase = 0; phase < count; ++phase) {
        program.mark();
        std::vector<std::uint64_t> mine;
        for (int i = 0; i < 10; ++i) mine.push_back(program.allocate(100));
        if (leaks && phase == count - 2) mine.pop_back();
        for (const std::uint64_t each : mine) program.free(each);
    }
    return program.take();
}

TEST(temp_scopes, marks_tell_where_a_scope_stands) {
    const temp_advice found(phases(100, false), 0);
    ASSERT_TRUE(found.is_offered()) << found.refusal;
    EXPECT_EQ(found.all.front().where, scope_place::phase);
    EXPECT_EQ(found.all.front().scopes.size(), 100U);
}

TEST(temp_scopes, a_block_that_a_mark_follows_has_outlived_its_phase) {
    EXPECT_FALSE(temp_advice(phases(100, true), 0).is_offered());
}

TEST(temp_scopes, a_mark_of_another_thread_ends_no_scope) {
    const auto worker = [](std::uint32_t own_marks) {
        made::program program;
        for (int phase = 0; phase < 100; ++phase) {
            program.mark(1);
            if (own_marks != 0) program.mark(own_marks - 1);
            std::vector<std::uint64_t> mine;
            for (int i = 0; i < 10; ++i) mine.push_back(program.allocate(100));
            for (const std::uint64_t each : mine) program.free(each);
        }
        return temp_advice(program.take(), 0);
    };
    const temp_advice foreign = worker(0);
    EXPECT_FALSE(foreign.is_offered());
    EXPECT_NE(foreign.refusal.find("does not tell where a scope could stand"), std::string::npos) << foreign.refusal;
    const temp_advice own = worker(1);
    ASSERT_TRUE(own.is_offered()) << own.refusal;
    EXPECT_EQ(own.all.front().scopes.size(), 100U);
}

TEST(temp_scopes, blocks_that_outlive_the_scope_they_are_allocated_in_are_found) {
    made::program program;
    const std::uint64_t early = program.allocate(8), inside = program.allocate(8),
                        late = program.allocate(8); // 0, 1, 2
    program.free(inside);                           // 3
    program.free(late);                             // 4
    program.free(early);                            // 5
    const trace recorded = program.take();
    const std::vector<block_life> lives = lives_of(recorded);
    const auto found = [&](std::uint64_t block, temp_scope_time scope) {
        block_group group;
        group.blocks = {block};
        return outlives(group, lives, std::vector<temp_scope_time>{scope});
    };
    EXPECT_FALSE(found(early, {1, 4, 0})) << "it is older than the scope";
    EXPECT_FALSE(found(inside, {1, 4, 0}));
    EXPECT_TRUE(found(late, {1, 4, 0}));
    EXPECT_FALSE(found(late, {1, 4, 1})) << "another thread's scope";
    EXPECT_FALSE(found(late, {1, never, 0})) << "the scope that the program ends in";
}

TEST(temp_scopes, a_scope_that_begins_in_another_is_divided_at_its_end) {
    const auto as_pairs = [](const std::vector<temp_scope_time>& of) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> made;
        for (const temp_scope_time& each : of) made.emplace_back(each.begin, each.end);
        return made;
    };
    using pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    EXPECT_EQ(as_pairs(nested({{4, 12, 0}, {2, 8, 0}})), (pairs{{2, 8}, {4, 8}, {8, 12}}));
    EXPECT_EQ(as_pairs(nested({{2, 12, 0}, {4, 8, 0}})), (pairs{{2, 12}, {4, 8}}));
    EXPECT_EQ(as_pairs(nested({{2, 8, 0}, {4, 12, 1}})), (pairs{{2, 8}, {4, 12}})) << "of two threads";
    EXPECT_EQ(as_pairs(nested({{2, 8, 0}, {2, 12, 0}, {8, 20, 0}})), (pairs{{2, 12}, {2, 8}, {8, 12}, {12, 20}}));
}

}
