// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Plans against a model of the trace, and what a plan refuses.

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/plan/replay_plan.hpp"
#include "replay/made_trace.hpp"

namespace {

using namespace tenure::lab;

/// Walks a folded plan beside its trace: each operation is the event's, on a slot that holds that block.
void expect_plan_of(const trace& recorded, const replay_plan& plan) {
    ASSERT_EQ(plan.error, "");
    ASSERT_EQ(plan.threads.size(), 1U);
    std::map<std::uint32_t, std::uint64_t> in_slot;
    std::size_t next = 0;
    std::uint64_t live = 0, peak = 0, peak_op = 0;
    std::map<std::uint64_t, std::uint64_t> bytes;
    for (const trace_event& event : recorded.events) {
        if (event.call == trace_call::mark) continue;
        ASSERT_LT(next, plan.threads[0].count);
        if (event.call == trace_call::resize) {
            ASSERT_EQ(plan.ops[next].call, plan_call::written);
            EXPECT_EQ(plan.ops[next++].bytes, bytes[event.block]);
        }
        const plan_op& op = plan.ops[next++];
        if (event.call == trace_call::frame) {
            EXPECT_EQ(op.call, plan_call::frame);
            continue;
        }
        EXPECT_EQ(op.stage, 0);
        if (event.call == trace_call::allocate) {
            ASSERT_TRUE(in_slot.emplace(op.slot, event.block).second) << "the slot is in use";
        } else {
            ASSERT_EQ(in_slot.at(op.slot), event.block);
        }
        if (event.call != trace_call::deallocate) {
            EXPECT_EQ(op.bytes, event.bytes);
            live -= bytes[event.block];
            live += bytes[event.block] = event.bytes;
            if (live > peak) peak_op = next;
            peak = std::max(peak, live);
        } else {
            in_slot.erase(op.slot);
            live -= bytes[event.block];
            bytes.erase(event.block);
        }
        ASSERT_LT(op.slot, plan.slot_count);
    }
    EXPECT_EQ(next, plan.threads[0].count);
    EXPECT_EQ(plan.peak_bytes, peak);
    EXPECT_EQ(plan.peak_op, peak_op) << "operations until then";
    EXPECT_EQ(plan.left, in_slot.size());
    EXPECT_EQ(plan.left_bytes, live);
    EXPECT_EQ(plan.threads[0].tail, in_slot.size());
    for (std::size_t i = next; i < plan.ops.size(); ++i) EXPECT_EQ(in_slot.erase(plan.ops[i].slot), 1U);
    EXPECT_TRUE(in_slot.empty()) << "everything is freed at the end";
}

TEST(replay_plan, a_plan_makes_the_calls_of_the_trace_in_its_order) {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        const trace recorded = made::mixed_program(3000, seed, 3);
        expect_plan_of(recorded, make_plan(recorded));
    }
    const trace frames = made::frame_program(20, 10, 2);
    expect_plan_of(frames, make_plan(frames));
}

TEST(replay_plan, slots_are_as_many_as_blocks_in_use_together) {
    const trace recorded = made::node_program(5000, 40);
    const replay_plan plan = make_plan(recorded);
    EXPECT_EQ(plan.slot_count, 48U) << "41, in whole lines";
    EXPECT_EQ(plan.blocks, 5000U);
}

TEST(replay_plan, blocks_are_freed_as_they_were_allocated) {
    made::program program;
    const std::vector<std::pair<trace_family, plan_call>> pairs{
        {trace_family::malloc, plan_call::release},
        {trace_family::zeroed, plan_call::release},
        {trace_family::aligned, plan_call::release},
        {trace_family::operator_new, plan_call::operator_delete},
        {trace_family::aligned_new, plan_call::aligned_delete}};
    for (const auto& [family, call] : pairs) program.free(program.allocate(100, 0, 0, family, 6));
    const trace recorded = program.take();
    const replay_plan plan = make_plan(recorded);
    ASSERT_EQ(plan.ops.size(), pairs.size() * 2);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        EXPECT_EQ(plan.ops[i * 2 + 1].call, pairs[i].second);
        EXPECT_EQ(plan.ops[i * 2 + 1].alignment_log2, 6);
    }
}

TEST(replay_plan, only_blocks_that_cross_threads_are_handed_over) {
    made::program program;
    const std::uint64_t own = program.allocate(10, 0, 0), crossing = program.allocate(20, 0, 0);
    program.resize(crossing, 30, 0, 1);
    program.free(own);
    program.free(crossing);
    const trace recorded = program.take();
    const replay_plan plan = make_plan(recorded, plan_threads::recorded);
    ASSERT_EQ(plan.threads.size(), 2U);
    EXPECT_EQ(plan.shared_slot_count, line_slots) << "a line of its own";
    std::vector<std::uint16_t> stages;
    for (const plan_op& op : plan.ops) {
        if (op.stage != 0) {
            EXPECT_EQ(op.slot, 0U);
            stages.push_back(op.stage);
        } else if (op.bytes == 10) {
            EXPECT_EQ(op.slot, line_slots);
        }
    }
    EXPECT_EQ(stages, (std::vector<std::uint16_t>{1, 3, 2})) << "thread 0 allocates and frees, thread 1 resizes";
}

TEST(replay_plan, no_two_threads_have_slots_in_one_line) {
    const trace recorded = made::mixed_program(5000, 9, 4);
    const replay_plan plan = make_plan(recorded, plan_threads::recorded);
    ASSERT_EQ(plan.error, "");
    std::map<std::uint64_t, std::set<std::size_t>> threads_of; // by line
    std::map<std::uint64_t, std::set<std::uint32_t>> slots_of_shared;
    for (std::size_t thread = 0; thread < plan.threads.size(); ++thread) {
        const plan_thread& of = plan.threads[thread];
        for (std::uint64_t i = of.first; i < of.first + of.count; ++i) {
            const plan_op& op = plan.ops[i];
            if (op.call == plan_call::written) continue;
            ASSERT_LT(op.slot, plan.slot_count);
            ASSERT_EQ(op.stage != 0, op.slot < plan.shared_slot_count);
            if (op.stage == 0) threads_of[op.slot / line_slots].insert(thread);
            if (op.stage != 0) slots_of_shared[op.slot / line_slots].insert(op.slot);
        }
    }
    EXPECT_GT(threads_of.size(), 4U);
    for (const auto& [line, threads] : threads_of) EXPECT_EQ(threads.size(), 1U) << line;
    for (const auto& [line, slots] : slots_of_shared) EXPECT_EQ(slots.size(), 1U) << line;
}

TEST(replay_plan, a_block_that_is_handed_over_more_often_than_there_are_stages_is_refused) {
    made::program program;
    const std::uint64_t block = program.allocate(10);
    for (std::uint32_t i = 0; i < max_stages; ++i) program.resize(block, 10 + i % 7, 0, i % 2);
    const trace recorded = program.take();
    const replay_plan plan = make_plan(recorded, plan_threads::recorded);
    EXPECT_NE(plan.error.find("65535"), std::string::npos) << plan.error;
    EXPECT_EQ(make_plan(recorded).error, "") << "on one thread nothing is handed over";
    EXPECT_EQ(stage_of(max_stages - 1), max_stages);
}

TEST(replay_plan, scopes_of_temp_nest_or_are_refused) {
    made::program program;
    for (int i = 0; i < 10; ++i) program.free(program.allocate(10)); // events 0 to 19
    const trace recorded = program.take();
    block_routes routes;
    const auto calls_with = [&](std::vector<temp_scope_time> scopes) {
        routes.scopes = std::move(scopes);
        const replay_plan plan = make_plan(recorded, plan_threads::folded, routes);
        std::vector<plan_call> calls;
        for (const plan_op& each : plan.ops)
            if (each.call == plan_call::open || each.call == plan_call::close) calls.push_back(each.call);
        return std::pair(calls, plan.error);
    };
    constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    const std::vector<plan_call> nested{plan_call::open, plan_call::open, plan_call::close, plan_call::close};
    EXPECT_EQ(calls_with({{4, 8, 0}, {2, 12, 0}}), std::pair(nested, std::string()));
    EXPECT_EQ(calls_with({{2, never, 0}, {4, never, 0}}), std::pair(nested, std::string()));
    EXPECT_NE(calls_with({{2, 8, 0}, {4, 12, 0}}).second.find("do not nest"), std::string::npos);
    EXPECT_EQ(calls_with({{2, 8, 0}, {4, 12, 1}}).second, "") << "scopes of two threads do not meet in the program";
    std::vector<temp_scope_time> many(max_open_scopes + 1, {2, 8, 0});
    EXPECT_NE(calls_with(many).second.find("open at once"), std::string::npos);
}

TEST(replay_plan, what_a_reservation_has_room_for_is_not_written_before_the_program_asks) {
    const trace recorded = made::growing_program(1, 512);
    block_routes routes;
    routes.reserved_bytes.assign(recorded.blocks, 512);
    routes.route_of_block.assign(recorded.blocks, 0);
    const auto written = [](const replay_plan& plan) {
        std::uint64_t before = 0, bytes = 0;
        for (const plan_op& each : plan.ops) {
            if (each.call == plan_call::written) before = each.bytes;
            if (each.call != plan_call::allocate && each.call != plan_call::resize && each.call != plan_call::keep)
                continue;
            bytes += each.bytes > before ? each.bytes - before : 0;
            before = 0;
        }
        return bytes;
    };
    EXPECT_EQ(written(make_plan(recorded)), 512U);
    EXPECT_EQ(written(make_plan(recorded, plan_threads::folded, routes)), 512U) << "the program's own writes";
}

TEST(replay_plan, traces_without_sense_are_refused_in_words) {
    const auto error_of = [](const trace& recorded) { return make_plan(recorded).error; };
    trace empty;
    EXPECT_NE(error_of(empty).find("no allocation"), std::string::npos) << error_of(empty);

    const trace good = made::node_program(100, 10);
    trace twice = good;
    twice.events.push_back(twice.events.front());
    EXPECT_NE(error_of(twice).find("was allocated before"), std::string::npos) << error_of(twice);

    trace freed_twice = good;
    for (const trace_event& each : good.events) {
        if (each.call != trace_call::deallocate) continue;
        freed_twice.events.push_back(each);
        break;
    }
    EXPECT_NE(error_of(freed_twice).find("was freed before"), std::string::npos) << error_of(freed_twice);

    trace unborn = good;
    unborn.events.erase(unborn.events.begin());
    EXPECT_NE(error_of(unborn).find("was not allocated"), std::string::npos) << error_of(unborn);

    trace beyond = good;
    beyond.events[5].block = 100;
    EXPECT_NE(error_of(beyond).find("is of block 100"), std::string::npos) << error_of(beyond);

    trace thread = good;
    thread.events[5].thread = 1;
    EXPECT_NE(error_of(thread).find("is of thread 1"), std::string::npos) << error_of(thread);

    trace huge = good;
    huge.events[0].bytes = std::uint64_t{1} << 60;
    EXPECT_NE(error_of(huge).find("more than an address space"), std::string::npos) << error_of(huge);

    trace many = good;
    many.blocks = 1'000'000;
    EXPECT_NE(error_of(many).find("damaged"), std::string::npos) << error_of(many);

    trace sampled = good;
    sampled.sample_bytes = 65536;
    EXPECT_NE(error_of(sampled).find("without --sample"), std::string::npos) << error_of(sampled);

    trace unread = good;
    unread.error = "it is no trace";
    EXPECT_EQ(error_of(unread), "it is no trace");
}

TEST(replay_plan, a_file_of_plans_is_read_as_it_was_written) {
    const trace recorded = made::mixed_program(2000, 5, 2);
    const replay_plan one = make_plan(recorded), all = make_plan(recorded, plan_threads::recorded);
    const std::vector<const replay_plan*> plans{&one, &all};
    plan_file file;
    ASSERT_EQ(file.write(plans), "");
    const std::vector<plan_view> views = map_plans(file.descriptor());
    ASSERT_EQ(views.size(), 2U);
    EXPECT_EQ(views[1].threads.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_EQ(views[i].ops.size(), plans[i]->ops.size());
        EXPECT_EQ(std::memcmp(views[i].ops.data(), plans[i]->ops.data(), views[i].ops.size_bytes()), 0);
        EXPECT_EQ(views[i].slot_count, plans[i]->slot_count);
        EXPECT_EQ(views[i].peak_bytes, plans[i]->peak_bytes);
    }
}

TEST(replay_plan, a_file_that_is_cut_short_holds_no_plan) {
    const replay_plan plan = make_plan(made::mixed_program(500, 3));
    const std::vector<const replay_plan*> plans{&plan};
    for (const off_t bytes : {0, 8, 40, 200, 4000}) {
        plan_file file;
        ASSERT_EQ(file.write(plans), "");
        ASSERT_EQ(map_plans(file.descriptor()).size(), 1U);
        ASSERT_EQ(::ftruncate(file.descriptor(), bytes), 0);
        EXPECT_TRUE(map_plans(file.descriptor()).empty()) << bytes;
    }
    EXPECT_TRUE(map_plans(-1).empty());
}

}
