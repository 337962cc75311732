// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/resident_chart.hpp"

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "report/html/html.hpp"
#include "report/page_check.hpp"
#include "report/snapshot.hpp"
#include "support/holds.hpp"

namespace tenure::lab {

namespace {

using support::holds;

constexpr std::int64_t mib = 1024; // in KiB

/// Two seconds: one contestant returns its memory after a second, one at once, one never.
result waiting_result() {
    result found = fixture::small_result();
    std::vector<contestant_result>& rows = found.experiments[0].contestants;
    const auto read = [](std::vector<std::int64_t> values) {
        return series{std::string{resident_readings_name}, "<few> kept", "KiB", std::move(values)};
    };
    rows[0].lists.push_back(read(std::vector<std::int64_t>(9, 300 * mib)));
    rows[1].lists.push_back(
        read({300 * mib, 300 * mib, 300 * mib, 300 * mib, 20 * mib, 20 * mib, 20 * mib, 20 * mib, 20 * mib}));
    rows[2].lists.push_back(read({10 * mib, 10 * mib, 10 * mib, 10 * mib, 10 * mib}));
    return found;
}

TEST(resident_chart, is_as_it_was) {
    const result found = waiting_result();
    const std::vector<resident_view> views = resident_over_time(found.experiments[0]);
    ASSERT_EQ(views.size(), 1U);
    expect_snapshot("resident.html", draw_resident(views[0], "r"));
}

TEST(resident_chart, takes_the_lists_of_that_name_by_variant) {
    result found = waiting_result();
    std::vector<contestant_result>& rows = found.experiments[0].contestants;
    rows[1].lists.back().variant = "others";
    rows[2].state = outcome::failed;
    const std::vector<resident_view> views = resident_over_time(found.experiments[0]);
    ASSERT_EQ(views.size(), 2U) << "the distances are not among them, nor the row that failed";
    EXPECT_EQ(views[0].variant, "<few> kept");
    ASSERT_EQ(views[0].lines.size(), 1U);
    EXPECT_EQ(views[0].lines[0].who, &rows[0]);
    EXPECT_EQ(views[0].lines[0].part, role::baseline);
    EXPECT_EQ(views[0].readings(), 9U);
    EXPECT_EQ(views[1].lines[0].mib(8), 20);
    EXPECT_TRUE(resident_over_time(found.experiments[1]).empty());
}

TEST(resident_chart, names_every_contestant_with_its_last_value) {
    const result found = waiting_result();
    const std::string text = draw_resident(resident_over_time(found.experiments[0])[0], "r");
    EXPECT_TRUE(faults_of(text).empty());
    EXPECT_TRUE(holds(text, ">glibc malloc   300<"));
    EXPECT_TRUE(holds(text, ">tenure temp   20.0<"));
    EXPECT_TRUE(holds(text, ">seconds after the frees<"));
    EXPECT_TRUE(holds(text, "MiB, read 4 times a second"));
    EXPECT_TRUE(holds(text, "class=\"course baseline\""));
    EXPECT_TRUE(holds(text, "class=\"course ours\""));
}

TEST(resident_chart, equal_ends_have_names_below_each_other) {
    result found = waiting_result();
    std::vector<contestant_result>& rows = found.experiments[0].contestants;
    for (contestant_result& each : rows) {
        if (!each.lists.empty()) each.lists.back().values.assign(9, 0);
    }
    const std::string text = draw_resident(resident_over_time(found.experiments[0])[0], "r");
    std::vector<double> heights;
    const std::string_view label = "<text x=\"506\" y=\"";
    for (std::size_t at = text.find(label); at != std::string::npos; at = text.find(label, at + 1))
        heights.push_back(std::stod(text.substr(at + label.size())));
    ASSERT_EQ(heights.size(), 3U) << text;
    for (std::size_t index = 1; index < heights.size(); ++index) EXPECT_GE(heights[index] - heights[index - 1], 13);
}

TEST(resident_chart, one_reading_is_still_a_picture) {
    result found = waiting_result();
    for (contestant_result& each : found.experiments[0].contestants) {
        if (!each.lists.empty()) each.lists.back().values = {5};
    }
    const std::string text = draw_resident(resident_over_time(found.experiments[0])[0], "r");
    EXPECT_TRUE(faults_of(text).empty());
    EXPECT_FALSE(holds(text, "nan"));
    EXPECT_FALSE(holds(text, "inf"));
}

TEST(resident_chart, stands_on_the_page_with_its_table) {
    const std::string page = to_html(waiting_result());
    EXPECT_TRUE(faults_of(page).empty());
    EXPECT_TRUE(holds(page, ">Resident memory over time</h3>"));
    EXPECT_TRUE(holds(page, ">Resident memory over time</a>")) << "a link leads there";
    EXPECT_TRUE(holds(page, "Resident after so many seconds, in MiB"));
    EXPECT_TRUE(holds(page, "&lt;few&gt; kept"));
    EXPECT_TRUE(holds(page, "<td class=\"num none\">–</td>")) << "the last second of the row that has only one";
    EXPECT_FALSE(holds(to_html(fixture::small_result()), "Resident memory over time"));
}

}

}
