// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Where a scope of Temp may stand by the stacks of frees.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/replay/advice/lifetime_advice.hpp"
#include "observe/replay/report/advice_words.hpp"
#include "replay/made_trace.hpp"

namespace {

using namespace tenure::lab;
using made::list_code, made::main_code, made::other_code, made::start_code, made::work_code;
using frame_list = std::vector<std::uint64_t>;

constexpr int turns = 4000;
const code_functions functions = [](std::uint64_t address) { return address / 0x1000; };

/// The advice to use Temp for the blocks that this call allocates.
struct advice_of_frees {
    explicit advice_of_frees(made::program&& program, std::uint64_t frame = work_code + 8) {
        const trace recorded = program.take();
        const std::vector<block_life> lives = lives_of(recorded);
        for (const block_group& each : groups_of(recorded, lives)) {
            if (recorded.stacks[each.stack].frames.front() != frame) continue;
            group = each;
            const group_advice found = advise(recorded, group, lives, functions);
            refusal = found.refusal;
            for (const lifetime_advice& one : found.fits)
                if (one.kind == advice_kind::temp) all.push_back(one);
        }
    }
    [[nodiscard]] bool is_offered() const { return !all.empty(); }
    /// The function of the scope, by its frame; ~0: there is none.
    [[nodiscard]] std::size_t frame() const { return all.empty() ? ~std::size_t{0} : all.front().scope_frame; }

    block_group group;
    std::vector<lifetime_advice> all;
    std::string refusal;
};

/// A call of work() in main().
frame_list in_work(std::uint64_t place) { return {work_code + place, main_code + 4, start_code}; }
frame_list in_main(std::uint64_t place) { return {main_code + place, start_code}; }

/// Calls `turn` many times, with a block of another function after each.
advice_of_frees repeated(const std::function<void(made::program&, int)>& turn, bool is_apart = true,
                         std::uint64_t frame = work_code + 8) {
    made::program program;
    const std::uint32_t logged = program.stack({other_code + 8, main_code + 40, start_code});
    for (int i = 0; i < turns; ++i) {
        turn(program, i);
        if (is_apart) program.free_at(program.allocate(500, logged), {other_code + 16, main_code + 40, start_code});
    }
    return advice_of_frees(std::move(program), frame);
}

TEST(free_places, a_function_that_frees_its_blocks_gets_the_scope_with_high_confidence) {
    const advice_of_frees found = repeated([](made::program& program, int) {
        program.free_at(program.allocate(64, program.stack(in_work(8))), in_work(20));
    });
    ASSERT_TRUE(found.is_offered()) << found.refusal;
    EXPECT_EQ(found.frame(), 0U);
    EXPECT_EQ(found.all.front().proof, scope_proof::separate_calls);
    EXPECT_EQ(found.all.front().degree, confidence::high);
    EXPECT_EQ(found.all.front().scopes.size(), std::size_t{turns});
    const std::string_view warning = scope_warning(found.all.front());
    EXPECT_EQ(warning.find("the trace cannot prove it"), std::string_view::npos);
    EXPECT_NE(warning.find("Only if a loop makes that call"), std::string_view::npos) << "which no stack tells";
}

TEST(free_places, turns_of_a_loop_that_the_trace_does_not_tell_apart_have_medium_confidence) {
    // The same, with nothing between the calls: they may as well be turns of a loop in the function.
    const advice_of_frees found =
        repeated([](made::program& program,
                    int) { program.free_at(program.allocate(64, program.stack(in_work(8))), in_work(20)); },
                 false);
    ASSERT_TRUE(found.is_offered()) << found.refusal;
    EXPECT_EQ(found.frame(), 0U);
    EXPECT_EQ(found.all.front().proof, scope_proof::frees);
    EXPECT_EQ(found.all.front().degree, confidence::medium);
    EXPECT_NE(scope_warning(found.all.front()).find("no block stays for the next"), std::string_view::npos);
}

TEST(free_places, a_block_that_a_callee_frees_stays_in_the_scope_of_its_function) {
    const advice_of_frees found = repeated([](made::program& program, int) {
        program.free_at(program.allocate(64, program.stack(in_work(8))),
                        {list_code + 30, other_code + 4, work_code + 20, main_code + 4, start_code});
    });
    EXPECT_EQ(found.frame(), 0U) << found.refusal;
    EXPECT_EQ(found.all.front().proof, scope_proof::separate_calls);
}

TEST(free_places, a_function_that_ends_with_a_jump_to_free_gets_the_scope_in_its_caller) {
    // work() { p = malloc(); jump to free(p) }     as below: the free does not tell which function has jumped
    const advice_of_frees found = repeated([](made::program& program, int) {
        program.free_at(program.allocate(64, program.stack(in_work(8))), in_main(4));
    });
    ASSERT_TRUE(found.is_offered()) << found.refusal;
    EXPECT_EQ(found.frame(), 1U);
    EXPECT_EQ(found.all.front().proof, scope_proof::allocations) << "by what main() allocates later";
    EXPECT_EQ(found.all.front().degree, confidence::medium);
}

TEST(free_places, a_jump_to_free_is_not_taken_for_that_of_the_function_that_allocates) {
    // run() { for (each : {make, use, use, drop}) each() }     make() { kept = malloc(); }
    // drop() { jump to free(kept) }, or free() itself
    const frame_list in_run{work_code + 4, main_code + 4, start_code};
    const frame_list in_make{list_code + 8, work_code + 4, main_code + 4, start_code};
    const advice_of_frees found = repeated(
        [&](made::program& program, int) { program.free_at(program.allocate(64, program.stack(in_make)), in_run); },
        true, list_code + 8);
    ASSERT_TRUE(found.is_offered()) << found.refusal;
    EXPECT_EQ(found.frame(), 2U) << "main() calls run(), and goes on";
    EXPECT_NE(found.all.front().proof, scope_proof::separate_calls);
    EXPECT_NE(found.all.front().degree, confidence::high);
    // run() frees another block behind its loop: it tells of run(), never of make().
    const advice_of_frees told = repeated(
        [&](made::program& program, int) {
            const std::uint64_t kept = program.allocate(64, program.stack(in_make));
            const std::uint64_t last = program.allocate(64, program.stack(in_make));
            program.free_at(kept, in_run);
            program.free_at(last, {work_code + 20, main_code + 4, start_code});
        },
        true, list_code + 8);
    EXPECT_EQ(told.frame(), 1U) << told.refusal;
}

TEST(free_places, a_function_that_jumps_to_malloc_is_not_taken_for_its_caller) {
    // The same, where make() ends with a jump to malloc(): all stacks are those of run().
    for (const bool drop_jumps : {true, false}) {
        const advice_of_frees found = repeated([&](made::program& program, int) {
            frame_list freed = in_work(8);
            if (!drop_jumps) freed.insert(freed.begin(), other_code + 8);
            program.free_at(program.allocate(64, program.stack(in_work(8))), freed);
        });
        ASSERT_TRUE(found.is_offered()) << found.refusal;
        EXPECT_EQ(found.frame(), 1U) << "not run(), which may be called for each";
        EXPECT_EQ(found.all.front().proof, scope_proof::allocations);
    }
}

TEST(free_places, a_jump_to_free_ends_a_function) {
    // work() { if (first) kept = malloc(); jump to free(other) }     in a loop, which frees `kept` in the last turn
    const advice_of_frees found = repeated([](made::program& program, int) {
        const std::uint64_t kept = program.allocate(64, program.stack(in_work(8)));
        program.free_at(program.allocate(32, program.stack(in_work(12))), in_main(4));
        program.free_at(program.allocate(32, program.stack(in_work(12))), in_main(4));
        program.free_at(kept, in_work(20));
    });
    EXPECT_NE(found.frame(), 0U);
}

TEST(free_places, a_function_that_allocates_in_one_of_two_branches_and_returns_the_block_gets_no_scope) {
    // for (;;) { t = tok(); use(t); free(t); log(); }     tok() { return q ? malloc() : malloc(); }
    for (const bool is_strict : {true, false}) {
        const advice_of_frees found = repeated([&](made::program& program, int i) {
            const bool is_first = is_strict ? i % 2 == 0 : i % 3 == 0;
            program.free_at(program.allocate(64, program.stack(in_work(is_first ? 8 : 20))), in_main(12));
        });
        ASSERT_TRUE(found.is_offered()) << found.refusal;
        EXPECT_EQ(found.frame(), 1U) << "main() frees it";
    }
    // The same without log(): what stacks of allocations cannot tell when the branches are taken in turn.
    const advice_of_frees quiet = repeated(
        [](made::program& program, int i) {
            program.free_at(program.allocate(64, program.stack(in_work(i % 2 == 0 ? 8 : 20))), in_main(12));
        },
        false);
    EXPECT_EQ(quiet.frame(), 1U) << quiet.refusal;
}

TEST(free_places, a_block_that_its_caller_frees_in_a_loop_gets_the_scope_there) {
    // A call that frees the block of the call before, from the same place in the same caller.
    const advice_of_frees other = repeated([](made::program& program, int) {
        program.free_at(program.allocate(64, program.stack(in_work(8))), {other_code + 30, main_code + 16, start_code});
    });
    EXPECT_EQ(other.frame(), 1U) << other.refusal;
    const advice_of_frees before = repeated([](made::program& program, int) {
        program.free_at(program.allocate(64, program.stack(in_work(8))), {other_code + 30, main_code + 2, start_code});
    });
    EXPECT_FALSE(before.is_offered()) << "in front of the allocation: in the next turn of the loop";
}

TEST(free_places, a_block_that_the_next_call_frees_gets_no_scope) {
    // work() { next = malloc(); free(kept); kept = next; }     every eighth call only frees
    std::uint64_t kept = ~std::uint64_t{0};
    const advice_of_frees behind = repeated(
        [&](made::program& program, int i) {
            const bool allocates = i % 8 != 7;
            const std::uint64_t next = allocates ? program.allocate(64, program.stack(in_work(8))) : ~std::uint64_t{0};
            if (kept != ~std::uint64_t{0}) program.free_at(kept, in_work(20));
            kept = next;
        },
        false);
    EXPECT_FALSE(behind.is_offered());
    // work() { free(kept); kept = malloc(); }
    kept = ~std::uint64_t{0};
    const advice_of_frees in_front = repeated(
        [&](made::program& program, int i) {
            if (kept != ~std::uint64_t{0}) program.free_at(kept, in_work(4));
            kept = i % 8 != 7 ? program.allocate(64, program.stack(in_work(8))) : ~std::uint64_t{0};
        },
        false);
    EXPECT_FALSE(in_front.is_offered());
}

TEST(free_places, an_event_outside_the_call_refutes_the_function_whatever_the_free_shows) {
    // for (item : items) { step(); log(); }     step() allocates in the first turn, and frees in the last
    const advice_of_frees found = repeated([](made::program& program, int) {
        const std::uint64_t kept = program.allocate(64, program.stack(in_work(8)));
        program.free_at(program.allocate(20, program.stack(in_main(30))), in_main(34));
        program.free_at(kept, in_work(20));
    });
    EXPECT_NE(found.frame(), 0U);
    EXPECT_FALSE(found.is_offered()) << "main() goes on, and then back to the call: the loop is in main()";
}

TEST(free_places, a_recursive_call_is_not_the_call_that_allocated) {
    // walk(node) { p = malloc(); if (node->child) walk(node->child); free(p) }     each call frees its own
    const auto at = [](int depth, std::uint64_t place) {
        frame_list made{work_code + place};
        for (int level = 0; level < depth; ++level) made.push_back(work_code + 12);
        made.insert(made.end(), {main_code + 4, start_code});
        return made;
    };
    const advice_of_frees own = repeated([&](made::program& program, int) {
        const std::uint64_t outer = program.allocate(64, program.stack(at(0, 8)));
        const std::uint64_t inner = program.allocate(64, program.stack(at(1, 8)));
        program.free_at(inner, at(1, 20));
        program.free_at(outer, at(0, 20));
    });
    EXPECT_EQ(own.frame(), 0U) << own.refusal;
    EXPECT_EQ(own.all.front().proof, scope_proof::separate_calls);
    // The inner call returns its block, and the outer one frees it.
    const advice_of_frees returned = repeated([&](made::program& program, int) {
        program.free_at(program.allocate(64, program.stack(at(1, 8))), at(0, 20));
    });
    EXPECT_EQ(returned.frame(), 1U) << returned.refusal;
    // The outer call gives its block to an inner one, which frees it.
    const advice_of_frees given = repeated([&](made::program& program, int) {
        program.free_at(program.allocate(64, program.stack(at(0, 8))), at(1, 20));
    });
    EXPECT_EQ(given.frame(), 0U) << given.refusal;
}

TEST(free_places, a_loop_behind_the_allocation_does_not_speak_against_the_function) {
    // work() { p = malloc(); for (...) { q = malloc(); free(q); } free(p); }
    const advice_of_frees found = repeated([](made::program& program, int) {
        const std::uint64_t outer = program.allocate(64, program.stack(in_work(8)));
        for (int i = 0; i < 3; ++i) program.free_at(program.allocate(32, program.stack(in_work(12))), in_work(16));
        program.free_at(outer, in_work(30));
    });
    EXPECT_EQ(found.frame(), 0U) << found.refusal;
}

TEST(free_places, blocks_that_are_collected_and_freed_together_stay_in_one_scope) {
    // work() { for (...) { list.push(malloc()); tag = malloc(); } for (...) free(list.pop()), free(tag); }
    const advice_of_frees found = repeated([](made::program& program, int) {
        std::vector<std::uint64_t> all;
        for (int i = 0; i < 5; ++i) {
            all.push_back(program.allocate(64, program.stack(in_work(8))));
            all.push_back(program.allocate(24, program.stack(in_work(12))));
        }
        for (const std::uint64_t each : all) program.free_at(each, in_work(30));
    });
    ASSERT_TRUE(found.is_offered()) << found.refusal;
    EXPECT_EQ(found.frame(), 0U);
    EXPECT_EQ(found.all.front().scopes.size(), std::size_t{turns}) << "one for each call";
}

TEST(free_places, two_functions_that_one_call_reaches_are_not_one) {
    // for (handler* each : handlers) each->run();     one run() keeps a block, the next frees it
    made::program program;
    const std::uint32_t kept = program.stack(in_work(8));
    for (int i = 0; i < turns; ++i)
        program.free_at(program.allocate(64, kept), {other_code + 30, main_code + 4, start_code});
    EXPECT_FALSE(advice_of_frees(std::move(program)).is_offered());
}

TEST(free_places, a_free_without_a_stack_proves_nothing) {
    made::program program;
    for (int i = 0; i < turns; ++i) {
        const std::uint64_t block = program.allocate(64, program.stack(in_work(8)));
        i == turns / 4 ? program.free(block) : program.free_at(block, in_work(20));
    }
    EXPECT_FALSE(advice_of_frees(std::move(program)).is_offered());
}

TEST(free_places, the_stacks_of_most_frees_are_told) {
    const advice_of_frees found = repeated([](made::program& program, int i) {
        program.free_at(program.allocate(64, program.stack(in_work(8))), in_work(i % 4 == 0 ? 20 : 24));
    });
    EXPECT_EQ(found.group.freed_stacks, 2U);
    EXPECT_EQ(found.group.freed_there, std::uint64_t{turns} * 3 / 4);
    const place_names names = [](std::uint32_t) { return std::vector<std::string>{"", "drop()", "work()"}; };
    EXPECT_EQ(frees_in_words(found.group, names), "drop(), called by work() (75 % of the frees; 2 call stacks)");
}

}
