// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/layout.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "report/html/html.hpp"
#include "report/json/json.hpp"
#include "report/table/text.hpp"

namespace tenure::lab {

namespace {

machine_info built(std::string type, std::string flags) {
    machine_info machine;
    machine.build_type = std::move(type);
    machine.flags = std::move(flags);
    return machine;
}

TEST(layout, figures_are_parted_by_kind_and_variant) {
    const result found = fixture::small_result();
    const layout laid = lay_out(found.experiments[0]);
    ASSERT_EQ(laid.timed.size(), 2U);
    EXPECT_EQ(laid.timed[0].variant, "warm");
    EXPECT_EQ(laid.timed[0].figures.size(), 2U);
    EXPECT_EQ(laid.timed[1].variant, "cold");
    ASSERT_EQ(laid.memory.size(), 1U);
    EXPECT_EQ(laid.memory[0].figures[0].metric, "peak");
    ASSERT_EQ(laid.told.size(), 1U);
    EXPECT_EQ(laid.told[0].figures[0].metric, "overflow index");
    EXPECT_EQ(laid.whole.figures.size(), 4U) << "facts have no better side";
}

TEST(layout, a_ratio_is_the_median_of_the_ratios_of_the_rounds) {
    const result found = fixture::small_result();
    const layout laid = lay_out(found.experiments[0]);
    const table& warm = laid.timed[0];
    // 2.0 / 8.0 and 2.5 / 10.0; the third round failed.
    EXPECT_DOUBLE_EQ(warm.rows[1].cells[0].ratio.median, 0.25);
    EXPECT_EQ(warm.rows[1].cells[0].ratio.count, 2U);
    EXPECT_DOUBLE_EQ(warm.rows[0].cells[0].ratio.median, 1.0);
}

TEST(layout, a_median_below_the_resolution_is_no_exact_value) {
    result found = fixture::small_result();
    EXPECT_EQ(text_tables(found).find("< 50.0"), std::string::npos);
    for (contestant_result& who : found.experiments[0].contestants)
        for (metric& each : who.metrics)
            if (each.variant == "warm") each.resolution = 50;
    const loaded_result back = parse_json(to_json(found));
    ASSERT_TRUE(back.ok()) << back.error;
    EXPECT_EQ(lay_out(back.value.experiments[0]).timed[0].rows[0].cells[0].resolution, 50);
    EXPECT_NE(text_tables(back.value).find("< 50.0"), std::string::npos);
    EXPECT_NE(to_html(back.value).find("&lt; 50.0"), std::string::npos);
    EXPECT_EQ(median_text({summarize(std::vector<double>{50.5}), {}, {}, 50}), "50.5");
    EXPECT_EQ(median_text({summarize(std::vector<double>{0}), {}, {}, 0}), "0");
}

TEST(layout, what_was_not_measured_is_listed_and_not_shown_as_a_row) {
    const result found = fixture::small_result();
    const layout laid = lay_out(found.experiments[0]);
    ASSERT_EQ(laid.absent.size(), 2U);
    EXPECT_EQ(laid.absent[0]->name, "HPHA");
    for (const table_row& row : laid.whole.rows) EXPECT_EQ(row.who->state, outcome::measured);
}

TEST(layout, what_somebody_was_left_out_of_stands_together_by_reason) {
    result found = fixture::small_result();
    found.experiments[0].contestants[0].left_out = {{"one", "slow"}, {"two, 8 B", "late"}, {"three", "slow"}};
    found.experiments[0].contestants[1].left_out = {{"one", "slow"}};
    found.experiments[0].contestants[2].left_out = {};
    const std::vector<left_out_row> rows = left_out_of(found.experiments[0]);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].who->name, "glibc malloc");
    EXPECT_EQ(rows[0].parts, "\"one\", \"three\"");
    EXPECT_EQ(rows[0].reason, "slow");
    EXPECT_EQ(rows[1].parts, "\"two, 8 B\"");
    EXPECT_EQ(rows[2].who->name, "tenure temp");
}

TEST(layout, without_the_baseline_there_are_no_ratios) {
    result found = fixture::small_result();
    found.experiments[0].contestants[0].state = outcome::failed;
    const layout laid = lay_out(found.experiments[0]);
    EXPECT_FALSE(laid.has_baseline);
    EXPECT_TRUE(std::isnan(laid.timed[0].rows[0].cells[0].ratio.median));
}

TEST(layout, a_reference_may_be_the_baseline) {
    result found = fixture::small_result();
    found.experiments[0].baseline = "trivial bump";
    const layout laid = lay_out(found.experiments[0]);
    const table_row& bump = laid.timed[0].rows[2];
    EXPECT_EQ(bump.part, role::reference);
    EXPECT_TRUE(bump.is_baseline);
    EXPECT_DOUBLE_EQ(laid.timed[0].rows[0].cells[0].ratio.median, 9.0);
}

TEST(layout, roles_come_from_the_declaration_and_the_baseline_never_from_a_name) {
    contestant_result who;
    who.name = "tenure hardened";
    who.kind = "reference (ours)";
    EXPECT_EQ(role_of(who, "glibc malloc"), role::peer);
    EXPECT_EQ(role_of(who, "tenure hardened"), role::baseline);
    who.name = "plain";
    who.kind = "library";
    who.role = contestant_role::ours;
    EXPECT_EQ(role_of(who, "glibc malloc"), role::ours);
    EXPECT_EQ(role_of(who, "plain"), role::baseline);
    who.role = contestant_role::checked;
    EXPECT_EQ(role_of(who, "plain"), role::checked);
    who.role = contestant_role::reference;
    EXPECT_EQ(role_of(who, "plain"), role::reference) << "a reference may be the baseline and is no choice";
}

TEST(layout, the_last_optimisation_flag_decides) {
    EXPECT_EQ(build_mark(built("Release", "-O2 -DNDEBUG")), "");
    EXPECT_EQ(build_mark(built("Release", "-O2 -O0")), "unoptimised build");
    EXPECT_EQ(build_mark(built("Debug", "-g -O0 -O3")), "");
    EXPECT_EQ(build_mark(built("dev", "-Og -g")), "unoptimised build");
    EXPECT_EQ(build_mark(built("Debug", "-O1 -g")), "unoptimised build");
    EXPECT_EQ(build_mark(built("Release", "-Ofast")), "");
    EXPECT_EQ(build_mark(built("Release", "-O")), "unoptimised build");
}

TEST(layout, without_a_flag_the_build_type_decides) {
    EXPECT_EQ(build_mark(built("Release", "unknown")), "");
    EXPECT_EQ(build_mark(built("RelWithDebInfo", "")), "");
    EXPECT_EQ(build_mark(built("Debug", "-g")), "unoptimised build");
    EXPECT_EQ(build_mark(built("", "")), "unoptimised build");
}

TEST(layout, a_sanitized_build_is_marked_however_optimised) {
    EXPECT_EQ(build_mark(built("Release", "-O2 -fsanitize=address")), "instrumented build");
}

TEST(layout, a_figure_of_one_contestant_is_told_and_not_compared) {
    result found = fixture::small_result();
    found.experiments[0].contestants[1].metrics.push_back({"at it", "cold", "ns", better::smaller, {40, 41, 42}});
    const layout laid = lay_out(found.experiments[0]);
    EXPECT_EQ(laid.whole.figures.size(), 4U);
    ASSERT_EQ(laid.told.size(), 1U);
    EXPECT_EQ(laid.told[0].figures[1].metric, "at it");
}

TEST(layout, a_contestant_on_its_own_is_still_shown_in_full) {
    result found = fixture::small_result();
    found.experiments[0].contestants.resize(1);
    const layout laid = lay_out(found.experiments[0]);
    EXPECT_EQ(laid.whole.figures.size(), 4U);
    EXPECT_TRUE(laid.told.empty());
}

TEST(layout, figures_of_late_contestants_join_their_variant) {
    result found = fixture::small_result();
    found.experiments[0].contestants[1].metrics.push_back({"reset", "warm", "ns", better::smaller, {1, 2, 3}});
    found.experiments[0].contestants[2].metrics.push_back({"reset", "warm", "ns", better::smaller, {1, 2, 3}});
    const layout laid = lay_out(found.experiments[0]);
    EXPECT_EQ(laid.whole.figures[2].metric, "reset");
    EXPECT_EQ(laid.whole.figures[3].variant, "cold");
}

}

}
