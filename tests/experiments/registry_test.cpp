// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/experiments/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/harness/machine/machine.hpp"
#include "bench/harness/schedule.hpp"

namespace {

using namespace tenure::lab;

std::vector<found_malloc> one_malloc() { return {{std::string{system_malloc_name}, {}, {}, true, {}, {}}}; }

class each_experiment : public testing::TestWithParam<std::size_t> {
protected:
    const experiment& chosen = experiments()[GetParam()];
    std::vector<measured_row> rows = list_rows(chosen, one_malloc(), library_peers());
};

TEST_P(each_experiment, has_a_question_and_says_what_would_be_unfair) {
    EXPECT_TRUE(chosen.question.ends_with('?'));
    EXPECT_FALSE(chosen.unfair.empty());
    EXPECT_FALSE(chosen.example.empty());
}

TEST_P(each_experiment, has_its_baseline_among_rows_of_different_names) {
    std::set<std::string> names;
    for (const measured_row& row : rows) EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(names.contains(std::string{chosen.baseline}));
}

TEST_P(each_experiment, names_no_contestant_with_a_comma) { // --only separates names by commas
    for (const measured_row& row : rows) EXPECT_EQ(row.name.find(','), std::string::npos) << row.name;
}

TEST_P(each_experiment, has_parts_of_different_names_that_one_number_can_hold) {
    std::set<std::string_view> names;
    for (const part& each : chosen.parts) EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_LE(chosen.parts.size(), 64u);
}

TEST_P(each_experiment, gives_our_own_contestants_a_version) {
    for (const measured_row& row : rows) {
        if (row.role != contestant_role::ours || row.kind == ".NET") continue; // the .NET tool reports no version
        // One that stands on a library of others has that library's version behind its own.
        EXPECT_EQ(row.version.substr(0, row.version.find(" with ")), own_version()) << row.name;
    }
}

TEST_P(each_experiment, has_somebody_in_each_part_and_nobody_outside) {
    std::uint64_t taken = 0;
    for (const measured_row& row : rows) taken |= row.parts;
    EXPECT_EQ(taken, (std::uint64_t{1} << chosen.parts.size()) - 1);
}

TEST_P(each_experiment, has_options_within_their_ranges) {
    for (const option_spec& option : chosen.options) {
        EXPECT_LE(option.lowest, option.value) << option.name;
        EXPECT_LE(option.value, option.highest) << option.name;
        EXPECT_LE(option.full_value, option.highest) << option.name;
        EXPECT_FALSE(option.help.empty());
    }
}

TEST_P(each_experiment, knows_every_library_that_a_contestant_names) {
    const std::vector<library_peer> libraries = library_peers();
    for (const contestant& who : chosen.contestants()) {
        if (who.how != route::inlined || who.peer.empty()) continue;
        EXPECT_TRUE(std::any_of(libraries.begin(), libraries.end(), [&](const library_peer& each) {
            return each.name == who.peer;
        })) << who.name;
    }
}

TEST_P(each_experiment, says_the_type_behind_every_inlined_contestant) {
    for (const contestant& who : chosen.contestants()) {
        if (who.how == route::inlined && who.run != nullptr) {
            EXPECT_FALSE(who.type.empty()) << who.name;
        }
    }
}

TEST_P(each_experiment, has_property_tables_with_a_cell_in_each_column) {
    if (chosen.properties == nullptr) return;
    for (const property_table& table : chosen.properties()) {
        for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << row.front();
    }
}

INSTANTIATE_TEST_SUITE_P(all, each_experiment, testing::Range<std::size_t>(0, experiments().size()),
                         [](const auto& each) { return std::string{experiments()[each.param].name}; });

/// A design that we rebuild is no peer, and takes part in no ranking.
TEST(registry, labels_what_we_rebuilt) {
    std::size_t rebuilt = 0;
    for (const experiment& chosen : experiments()) {
        for (const contestant& who : chosen.contestants()) {
            if (who.name.find("design") == std::string_view::npos) continue;
            ++rebuilt;
            EXPECT_NE(who.name.find("(rebuilt"), std::string_view::npos) << who.name;
            EXPECT_EQ(who.role, contestant_role::reference) << who.name;
            EXPECT_NE(who.note.find("rebuilt"), std::string_view::npos) << who.name;
        }
    }
    EXPECT_GE(rebuilt, 2u);
}

}
