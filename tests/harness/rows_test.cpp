// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace {

using namespace tenure::lab;

/// What a worker sends that has measured a value, a list and a course.
worker_reply reply_with(const std::string& list, const std::string& course) {
    worker_reply made;
    made.how = ending::finished;
    made.message = R"({"values":[["peak","","MiB",0,1]],"lists":[["distances","","bytes",)" + list +
                   R"(]],"courses":[["resident","","KiB",)" + course + R"(]],"notes":[],"proof":"p","failure":""})";
    return made;
}

TEST(rows, a_course_has_the_median_of_each_place_and_a_list_the_first_round) {
    measured_row row;
    row.name = "a malloc";
    constexpr std::array<part, 1> parts{{{"memory", 1}}};
    row_builder rows({&row, 1}, parts, 4);
    rows.add(0, 0, 0, reply_with("[1]", "[10,500,7]"));
    rows.add(0, 1, 0, reply_with("[2]", "[30,100,7]"));
    rows.add(0, 2, 0, reply_with("[3]", "[20,300,8]"));
    rows.add(0, 3, 0, reply_with("[4]", "[9]"));
    const std::vector<contestant_result> found = rows.take(4);
    ASSERT_EQ(found.at(0).state, outcome::measured) << found[0].reason;
    ASSERT_EQ(found[0].lists.size(), 2U);
    EXPECT_EQ(found[0].lists[0].values, (std::vector<std::int64_t>{1}));
    EXPECT_EQ(found[0].lists[1].values, (std::vector<std::int64_t>{20, 300, 7}))
        << "without the round of another length";
}

}
