// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Plans against a model of the trace, and what a plan refuses.

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
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
    std::uint64_t live = 0, peak = 0;
    std::map<std::uint64_t, std::uint64_t> bytes;
    for (const trace_event& event : recorded.events) {
        if (event.call == trace_call::mark) continue;
        ASSERT_LT(next, plan.threads[0].count);
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
    EXPECT_EQ(plan.slot_count, 41U);
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
    program.free(own, 0, 0);
    program.free(crossing, 0, 0);
    const trace recorded = program.take();
    const replay_plan plan = make_plan(recorded, plan_threads::recorded);
    ASSERT_EQ(plan.threads.size(), 2U);
    EXPECT_EQ(plan.shared_slot_count, 1U);
    std::vector<std::uint16_t> stages;
    for (const plan_op& op : plan.ops) {
        if (op.slot < plan.shared_slot_count && op.bytes != 10) stages.push_back(op.stage);
        if (op.bytes == 10) {
            EXPECT_EQ(op.stage, 0);
        }
    }
    EXPECT_EQ(stages, (std::vector<std::uint16_t>{1, 3, 2})) << "thread 0 allocates and frees, thread 1 resizes";
}

TEST(replay_plan, stages_never_are_zero_and_follow_each_other) {
    EXPECT_EQ(stage_of(0), 1);
    EXPECT_EQ(stage_of(65534), 65535);
    EXPECT_EQ(stage_of(65535), 1);
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
