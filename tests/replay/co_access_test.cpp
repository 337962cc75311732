// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Which call sites the accesses of a trace show as touched together, on traces whose truth is known.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "observe/replay/affinity/affinity_advice.hpp"
#include "observe/replay/affinity/affinity_text.hpp"
#include "observe/replay/affinity/co_access.hpp"
#include "observe/replay/affinity/related_blocks.hpp"
#include "observe/replay/plan/replay_plan.hpp"
#include "replay/made_trace.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

constexpr std::uint64_t window_ns = 10'000'000, hit_cost_ns = 20'000, visited_pairs = 200;

/// Keys and values, which are allocated in turn with blocks that nobody visits.
class visited_program {
public:
    visited_program() {
        const std::uint32_t key = made_.stack({0x100, 0x900}), value = made_.stack({0x200, 0x900}),
                            idle = made_.stack({0x300, 0x900});
        for (std::uint64_t index = 0; index < visited_pairs; ++index) {
            keys_.push_back(made_.allocate(48, key));
            made_.allocate(1000, idle);
            values_.push_back(made_.allocate(72, value));
            made_.allocate(1000, idle);
        }
    }

    /// A window with two couples, of which each is touched `times` times: the second block `apart_ns` behind the first,
    /// without what the hit takes.
    void watch_couples(std::size_t one, std::size_t other, std::uint64_t apart_ns, std::size_t times = 2,
                       std::uint32_t second_thread = 0) {
        access_window made{at_ns_, at_ns_ + window_ns, window_choice::matched, hit_cost_ns, 8, {}};
        for (const std::size_t index : {one, other}) {
            watched_block first{keys_[index], 0, 0, {}}, second{values_[index], 0, 0, {}};
            for (std::size_t time = 0; time < times; ++time) {
                const std::uint64_t begin_ns =
                    at_ns_ + window_ns / (times + 1) * (time + 1) + (index == one ? 0 : window_ns / 8);
                first.accesses.push_back({begin_ns, 0x1000, 0});
                const std::uint64_t hit_ns = second_thread == 0 ? hit_cost_ns : 0; // it stops its own thread
                second.accesses.push_back({begin_ns + hit_ns + apart_ns, 0x1000, second_thread});
            }
            first.count = second.count = static_cast<std::uint32_t>(times);
            made.blocks.push_back(std::move(first));
            made.blocks.push_back(std::move(second));
        }
        add(std::move(made));
    }
    void watch_one(std::uint64_t block, std::uint32_t count, std::uint64_t processor_ns = window_ns) {
        access_window made{at_ns_, at_ns_ + window_ns, window_choice::random, hit_cost_ns, 8, {}, processor_ns};
        made.blocks.push_back({block, 0, count, {}});
        for (std::uint32_t each = 0; each < count; ++each)
            made.blocks.back().accesses.push_back({at_ns_ + window_ns / 2, 0x1000, 0});
        add(std::move(made));
    }

    [[nodiscard]] trace take() {
        trace all = made_.take();
        all.windows = std::move(windows_);
        return all;
    }

private:
    void add(access_window&& made) {
        windows_.push_back(std::move(made));
        at_ns_ += 2 * window_ns;
    }

    made::program made_;
    std::vector<std::uint64_t> keys_, values_;
    std::vector<access_window> windows_;
    std::uint64_t at_ns_ = 1'000'000;
};

[[nodiscard]] co_access found_in(const trace& of) { return find_co_access(of, lives_of(of)); }

TEST(co_access, blocks_that_are_visited_one_after_the_other_are_together) {
    visited_program program;
    for (std::size_t index = 0; index < 60; ++index) program.watch_couples(index, index + 100, 300);
    const trace recorded = program.take();
    const co_access found = found_in(recorded);
    ASSERT_EQ(found.pairs.size(), 1u);
    const site_pair& pair = found.pairs.front();
    EXPECT_TRUE(pair.is_together);
    EXPECT_EQ(pair.degree, confidence::high);
    EXPECT_EQ(pair.learned.pairs + pair.checked.pairs, 120u);
    EXPECT_EQ(pair.learned.near_share(), 1);
    EXPECT_LT(pair.learned.chance_share(), 0.05);
    EXPECT_EQ(pair.crossed.near_share(), 0);
    ASSERT_EQ(pair.relations.size(), 1u);
    EXPECT_EQ(pair.relations.front().choice, window_choice::matched);
    const std::vector<advised_affinity> groups = join_pairs(found);
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups.front().sites.size(), 2u);
    EXPECT_EQ(groups.front().degree, confidence::high);
}

TEST(co_access, blocks_that_are_touched_in_the_same_window_but_apart_are_not) {
    visited_program program;
    for (std::size_t index = 0; index < 60; ++index) program.watch_couples(index, index + 100, 400'000);
    const co_access found = found_in(program.take());
    ASSERT_EQ(found.pairs.size(), 1u);
    EXPECT_FALSE(found.pairs.front().is_together);
    EXPECT_TRUE(join_pairs(found).empty());
}

TEST(co_access, accesses_of_different_threads_are_not_together) {
    visited_program program;
    for (std::size_t index = 0; index < 60; ++index) program.watch_couples(index, index + 100, 300, 2, 1);
    EXPECT_FALSE(found_in(program.take()).pairs.front().is_together);
}

TEST(co_access, where_all_blocks_are_touched_at_the_same_time_chance_explains_it) {
    visited_program program;
    trace recorded = program.take();
    // Each block of a window is touched within microseconds of all others, also of the other couple.
    for (std::uint64_t index = 0; index < 60; ++index) {
        const std::uint64_t at_ns = 1'000'000 + index * 2 * window_ns;
        access_window made{at_ns, at_ns + window_ns, window_choice::matched, 0, 8, {}};
        for (const std::uint64_t block : {index * 4, index * 4 + 2, index * 4 + 400, index * 4 + 402})
            made.blocks.push_back({block, 0, 1, {{at_ns + 5'000'000 + block % 7 * 100, 0x1000, 0}}});
        recorded.windows.push_back(std::move(made));
    }
    const co_access found = found_in(recorded);
    ASSERT_EQ(found.pairs.size(), 1u);
    EXPECT_EQ(found.pairs.front().learned.near_share(), 1);
    EXPECT_EQ(found.pairs.front().crossed.near_share(), 1);
    EXPECT_FALSE(found.pairs.front().is_together);
}

TEST(co_access, a_relation_of_the_first_half_that_the_second_does_not_show_is_none) {
    visited_program program;
    for (std::size_t index = 0; index < 60; ++index)
        program.watch_couples(index, index + 100, index % 2 == 0 ? 300 : 400'000);
    EXPECT_FALSE(found_in(program.take()).pairs.front().is_together);
}

TEST(co_access, a_few_pairs_are_not_enough) {
    visited_program program;
    for (std::size_t index = 0; index < 2; ++index) program.watch_couples(index, index + 100, 300);
    EXPECT_FALSE(found_in(program.take()).pairs.front().is_together);
}

TEST(co_access, accesses_shortly_before_a_free_are_of_what_frees) {
    made::program freeing;
    const std::uint32_t key = freeing.stack({0x100}), value = freeing.stack({0x200});
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
    for (int index = 0; index < 80; ++index) pairs.emplace_back(freeing.allocate(48, key), freeing.allocate(72, value));
    trace recorded = freeing.take();
    for (std::size_t index = 0; index + 1 < pairs.size(); index += 2) {
        const std::uint64_t at_ns = 1'000'000 + index * window_ns;
        access_window made{at_ns, at_ns + window_ns, window_choice::matched, 0, 8, {}};
        for (const auto& [one, other] : {pairs[index], pairs[index + 1]}) {
            for (const std::uint64_t block : {one, other}) {
                made.blocks.push_back({block, 0, 1, {{at_ns + 5'000'000, 0x1000, 0}}});
                recorded.events.push_back(
                    {block, 0, at_ns + 5'050'000, 0, 0, trace_call::deallocate, trace_family::malloc, 4});
            }
        }
        recorded.windows.push_back(std::move(made));
    }
    for (const site_pair& each : found_in(recorded).pairs) EXPECT_EQ(each.learned.accesses, 0u);
}

TEST(co_access, one_pair_that_is_watched_again_and_again_is_one_pair) {
    visited_program program;
    for (std::size_t index = 0; index < 60; ++index) program.watch_couples(0, 100, 300);
    const co_access found = found_in(program.take());
    ASSERT_EQ(found.pairs.size(), 1u);
    EXPECT_EQ(found.pairs.front().learned.pairs + found.pairs.front().checked.pairs, 2u);
    EXPECT_EQ(found.pairs.front().learned.near_share(), 1);
    EXPECT_FALSE(found.pairs.front().is_together);
}

TEST(co_access, a_pair_of_blocks_is_learned_from_or_checked_on_but_not_both) {
    visited_program program;
    for (std::size_t index = 0; index < 40; ++index) program.watch_couples(index, index + 100, 300);
    for (std::size_t index = 1; index < 41; ++index) program.watch_couples(index % 40, index % 40 + 100, 300);
    const site_pair pair = found_in(program.take()).pairs.front();
    EXPECT_EQ(pair.learned.pairs, 40u);
    EXPECT_EQ(pair.checked.pairs, 40u) << "each of the 80 pairs was watched in a window of either half";
    EXPECT_EQ(pair.learned.accesses, 40u * 2 * 4);
}

TEST(co_access, without_blocks_of_different_pairs_to_compare_with_nothing_is_together) {
    visited_program program;
    for (std::size_t index = 0; index < 60; ++index) program.watch_couples(index, index + 100, 300);
    trace recorded = program.take();
    for (access_window& each : recorded.windows) each.blocks.resize(2);
    const co_access found = found_in(recorded);
    EXPECT_EQ(found.pairs.front().checked.near_share(), 1);
    EXPECT_FALSE(found.pairs.front().is_together);
}

/// Call sites that all have a few blocks, watched as couples of each two sites, and touched at different times; of the
/// first two sites the couples are touched one right behind the other.
[[nodiscard]] co_access found_among(std::uint32_t sites) {
    constexpr std::uint64_t windows_of_pair = 4;
    made::program program;
    std::vector<std::vector<std::uint64_t>> blocks(sites);
    for (std::uint32_t site = 0; site < sites; ++site)
        for (std::uint64_t index = 0; index < 2 * windows_of_pair; ++index)
            blocks[site].push_back(program.allocate(48, program.stack({0x100 + site})));
    trace recorded = program.take();
    std::uint64_t at_ns = 1'000'000;
    for (std::uint32_t one = 0; one < sites; ++one) {
        for (std::uint32_t other = one + 1; other < sites; ++other) {
            for (std::uint64_t turn = 0; turn < windows_of_pair; ++turn, at_ns += 2 * window_ns) {
                access_window made{at_ns, at_ns + window_ns, window_choice::matched, 0, 8, {}};
                for (const std::uint64_t index : {2 * turn, 2 * turn + 1}) {
                    const std::uint64_t first_ns = at_ns + 1'000'000 + index % 2 * 4'000'000;
                    const std::uint64_t apart_ns = one == 0 && other == 1 ? 300 : 2'000'000;
                    made.blocks.push_back({blocks[one][index], 0, 1, {{first_ns, 1, 0}}});
                    made.blocks.push_back({blocks[other][index], 0, 1, {{first_ns + apart_ns, 1, 0}}});
                }
                recorded.windows.push_back(std::move(made));
            }
        }
    }
    return found_in(recorded);
}

TEST(co_access, what_a_few_pairs_show_is_not_beyond_chance_among_many_call_sites) {
    const auto count_together = [](const co_access& of) {
        return std::count_if(of.pairs.begin(), of.pairs.end(), [](const site_pair& each) { return each.is_together; });
    };
    EXPECT_EQ(count_together(found_among(2)), 1);
    const co_access many = found_among(48);
    EXPECT_EQ(many.pairs.size(), 48u * 47 / 2);
    EXPECT_EQ(count_together(many), 0);
}

TEST(co_access, where_other_hits_lie_between_chance_explains_more) {
    const auto chance_share = [](std::size_t between) {
        visited_program program;
        trace recorded = program.take();
        access_window made{1'000'000, 1'000'000 + window_ns, window_choice::matched, hit_cost_ns, 8, {}};
        made.blocks.push_back({0, 0, 1, {{2'000'000, 1, 0}}});
        made.blocks.push_back({2, 0, 1, {{2'090'000, 1, 0}}});
        made.blocks.push_back({4, 0, 0, {}});
        made.blocks.push_back({6, 0, 0, {}});
        for (std::size_t index = 0; index < between; ++index)
            made.blocks[2].accesses.push_back({2'030'000 + index * 30'000, 1, 0});
        recorded.windows.push_back(std::move(made));
        const co_access found = found_in(recorded);
        const pair_figures& learned = found.pairs.front().learned;
        EXPECT_EQ(learned.near, between == 0 ? 0u : 2u) << between;
        EXPECT_EQ(learned.widest_ns, between == 0 ? 0 : together_ns + 3 * 2 * hit_cost_ns) << between;
        return learned.chance_share();
    };
    const double with_one_hit = 2.0 * static_cast<double>(together_ns + 2 * hit_cost_ns) / window_ns,
                 with_three = 2.0 * static_cast<double>(together_ns + 6 * hit_cost_ns) / window_ns;
    EXPECT_NEAR(chance_share(0), with_one_hit, 0.001);
    EXPECT_NEAR(chance_share(2), with_three, 0.001);
}

TEST(co_access, many_accesses_are_compared_with_their_neighbours_alone) {
    visited_program program;
    trace recorded = program.take();
    constexpr std::size_t most = 200'000;
    access_window made{1'000'000, 1'000'000 + window_ns, window_choice::matched, 0, 0, {}};
    made.blocks.resize(4);
    for (std::uint64_t index = 0; index < 4; ++index) {
        made.blocks[index].block = index * 2;
        for (std::size_t access = 0; access < most; ++access) made.blocks[index].accesses.push_back({2'000'000, 1, 0});
        made.blocks[index].count = most;
    }
    recorded.windows.push_back(std::move(made));
    const co_access found = found_in(recorded); // each with each would be 10^11 comparisons
    ASSERT_FALSE(found.pairs.empty());
    EXPECT_EQ(found.pairs.front().learned.accesses, 2 * 2 * most);
}

TEST(co_access, couples_of_resized_blocks_tell_nothing_of_the_call_sites_that_first_allocated_them) {
    made::program program;
    const std::uint32_t key = program.stack({0x100}), value = program.stack({0x200}), grown = program.stack({0x300});
    for (int index = 0; index < 8; ++index) program.allocate(48, key), program.allocate(72, value);
    for (std::uint64_t index = 0; index < 8; ++index) program.resize(index * 2 + 1, 96, grown);
    trace recorded = program.take();
    access_window made{1'000'000, 1'000'000 + window_ns, window_choice::matched, 0, 8, {}};
    for (const std::uint64_t block : {0U, 1U, 2U, 3U}) made.blocks.push_back({block, 0, 1, {{2'000'000, 1, 0}}});
    recorded.windows.push_back(std::move(made));
    EXPECT_TRUE(found_in(recorded).pairs.empty());
}

TEST(co_access, relations_in_a_part_count_from_its_beginning_without_older_blocks) {
    for (const bool is_part : {false, true}) {
        made::program program;
        const std::uint32_t key = program.stack({0x100}), value = program.stack({0x200});
        for (int index = 0; index < 8; ++index) program.allocate(48, key), program.allocate(72, value);
        trace recorded = program.take();
        recorded.is_part = is_part;
        recorded.older_blocks = is_part ? 4 : 0;
        for (const window_choice choice : {window_choice::successive, window_choice::matched}) {
            access_window made{1'000'000, 1'000'000 + window_ns, choice, 0, 8, {}};
            for (const std::uint64_t block : {2U, 5U, 8U, 9U})
                made.blocks.push_back({block, 0, 1, {{2'000'000, 1, 0}}});
            recorded.windows.push_back(std::move(made));
        }
        std::vector<block_relation> found;
        for (const site_pair& each : found_in(recorded).pairs)
            found.insert(found.end(), each.relations.begin(), each.relations.end());
        std::vector<block_relation> expected{{window_choice::successive, 1, key, value}};
        if (!is_part) {
            expected.push_back({window_choice::successive, 3, key, value});
            expected.push_back({window_choice::matched, 0, key, value});
        }
        EXPECT_EQ(found, expected) << is_part;
    }
}

TEST(co_access, sites_are_untouched_only_if_many_different_blocks_were_watched) {
    constexpr std::uint64_t enough = 150; // 3 / 150 are 2 %
    const auto untouched = [](std::uint64_t blocks, std::uint64_t times, std::uint64_t touched,
                              std::uint64_t processor_ns = window_ns) {
        visited_program program;
        for (std::uint64_t index = 0; index < enough; ++index) program.watch_one(index * 4, 1); // keys
        for (std::uint64_t time = 0; time < times; ++time)
            for (std::uint64_t index = 0; index < blocks; ++index)
                program.watch_one(index * 2 + 1, index < touched ? 1 : 0, processor_ns);        // idle
        for (std::uint64_t index = 0; index < 10; ++index) program.watch_one(index * 4 + 2, 0); // values
        return untouched_sites(found_in(program.take()));
    };
    const std::vector<untouched_site> found = untouched(enough, 2, 0);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().site->largest, 1000u);
    EXPECT_EQ(found.front().touches.watched, enough);
    EXPECT_EQ(found.front().touches.touched, 0u);
    EXPECT_NEAR(found.front().touches.most_touched_share(), 0.02, 0.0001);
    EXPECT_TRUE(untouched(enough - 1, 1, 0).empty());
    EXPECT_TRUE(untouched(30, 10, 0).empty()) << "the same blocks again tell nothing of the others";
    EXPECT_TRUE(untouched(enough, 1, 0, 1000).empty()) << "the program did not run";
    EXPECT_TRUE(untouched(enough, 1, 0, access_window::unknown_ns).empty());
    EXPECT_TRUE(untouched(enough, 1, 1).empty()) << "one of 150 may be one of 30";
    EXPECT_EQ(untouched(240, 1, 1).size(), 1u);
}

TEST(co_access, the_bound_of_untouched_blocks_is_that_of_the_poisson_distribution) {
    const auto bound = [](std::uint64_t touched) { return site_touches{1000, touched, 0}.most_touched_share() * 1000; };
    EXPECT_NEAR(bound(0), 2.996, 0.001);
    EXPECT_NEAR(bound(1), 4.744, 0.001);
    EXPECT_NEAR(bound(10), 16.962, 0.001);
    EXPECT_EQ((site_touches{0, 0, 0}.most_touched_share()), 1);
}

TEST(related_blocks, matched_ones_are_the_nth_of_both_stacks) {
    made::program made;
    const std::uint32_t one = made.stack({1}), other = made.stack({2});
    for (int index = 0; index < 3; ++index) made.allocate(16, one);   // slots 0, 1, 2
    for (int index = 0; index < 3; ++index) made.allocate(16, other); // slots 3, 4, 5
    const trace recorded = made.take();
    const std::vector<block_relation> relations{{window_choice::matched, 0, one, other}};
    EXPECT_EQ(related_slots(recorded, relations, make_plan(recorded)),
              (std::vector<std::uint32_t>{no_neighbour, no_neighbour, no_neighbour, 0, 1, 2, no_neighbour, no_neighbour,
                                          no_neighbour, no_neighbour, no_neighbour, no_neighbour}));
}

TEST(related_blocks, successive_ones_have_a_distance_in_their_thread) {
    made::program made;
    const std::uint32_t one = made.stack({1}), other = made.stack({2});
    for (int index = 0; index < 2; ++index) {
        made.allocate(16, one);
        made.allocate(16, other, 1); // another thread
        made.allocate(16, other);
    }
    const trace recorded = made.take();
    const std::vector<block_relation> relations{{window_choice::successive, 1, one, other}};
    const std::vector<std::uint32_t> found = related_slots(recorded, relations, make_plan(recorded));
    EXPECT_EQ(found[2], 0u);
    EXPECT_EQ(found[5], 3u);
    EXPECT_EQ(found[1], no_neighbour);
    EXPECT_EQ(found[4], no_neighbour);
}

TEST(measured_affinity, a_group_brings_pairs_together_that_other_blocks_lie_between) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    visited_program program;
    for (std::size_t index = 0; index < 60; ++index) program.watch_couples(index, index + 100, 300);
    const trace recorded = program.take();
    const std::vector<block_life> lives = lives_of(recorded);
    const std::vector<advised_affinity> groups = join_pairs(find_co_access(recorded, lives));
    ASSERT_EQ(groups.size(), 1u);
    replay_settings settings;
    settings.rounds = 6;
    const found_malloc base{std::string(system_malloc_name), {}, {}, true, {}, {}};
    const affinity_saving found = measure_affinity(recorded, lives, groups.front(), base, settings);
    ASSERT_EQ(found.error, "");
    EXPECT_EQ(found.pairs, static_cast<double>(visited_pairs));
    EXPECT_EQ(found.recorded.close, 0) << "a block of 1000 bytes lies between them";
    EXPECT_GE(found.recorded.distance, 1000);
    EXPECT_GE(found.advised.close, 99) << "all but those at the end of a page of the group";
    EXPECT_LE(found.advised.distance, 64);
    EXPECT_GT(found.advised.same_page, found.recorded.same_page);
    EXPECT_TRUE(found.is_nearer());
    EXPECT_GT(found.recorded.shuffled_ns, 0);
    EXPECT_GT(found.advised.visit_ns, 0);
    EXPECT_EQ(found.visit_ratio.rounds, 6u);
}

TEST(measured_affinity, pairs_that_are_allocated_apart_stay_apart) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    made::program program;
    const std::uint32_t key = program.stack({0x100}), value = program.stack({0x200});
    for (int index = 0; index < 500; ++index) program.allocate(48, key);
    for (int index = 0; index < 500; ++index) program.allocate(72, value);
    const trace recorded = program.take();
    const std::vector<block_life> lives = lives_of(recorded);
    advised_affinity group;
    for (block_group& each : groups_of(recorded, lives))
        group.sites.push_back(std::make_shared<const block_group>(std::move(each)));
    group.pairs.emplace_back();
    group.pairs.back().relations.push_back({window_choice::matched, 0, key, value});
    replay_settings settings;
    settings.rounds = 6;
    const found_malloc base{std::string(system_malloc_name), {}, {}, true, {}, {}};
    const affinity_saving found = measure_affinity(recorded, lives, group, base, settings);
    ASSERT_EQ(found.error, "");
    EXPECT_EQ(found.pairs, 500);
    EXPECT_FALSE(found.is_nearer());
    EXPECT_FALSE(found.is_proven());
}

TEST(affinity_text, a_group_that_is_not_nearer_says_what_to_do) {
    visited_program program;
    for (std::size_t index = 0; index < 60; ++index) program.watch_couples(index, index + 100, 300);
    const trace recorded = program.take();
    affinity_report report;
    report.windows = recorded.windows.size();
    report.groups = join_pairs(found_in(recorded));
    report.groups.front().saving.pairs = 100;
    const auto text_of = [&] {
        std::string text;
        for (const affinity_words& each : words_of(report, [](std::uint32_t) { return std::vector<std::string>{"f"}; }))
            for (const std::string& line : each.lines) text += line + "\n";
        return text;
    };
    EXPECT_NE(text_of().find("were within 10 us of an access of the other block on the same thread and up to 40 us "
                             "more, in which the accesses between them were reported."),
              std::string::npos)
        << text_of();
    EXPECT_NE(text_of().find("Use an affinity group"), std::string::npos) << text_of();
    EXPECT_NE(text_of().find("tenure::affinity_group visited"), std::string::npos);
    EXPECT_NE(text_of().find("Confidence high: learned on 60 pairs, checked on 60 more."), std::string::npos);
    report.groups.front().reason = "because";
    EXPECT_NE(text_of().find("Leave alone: because."), std::string::npos);
    EXPECT_EQ(text_of().find("tenure::affinity_group"), std::string::npos);
}

}
