// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/pins/memory_course.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "observe/pins/report/course_chart.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t mib = 1024 * 1024;

memory_moment moment_at(std::uint64_t saved_ms, std::uint64_t live_mib, std::uint64_t held_mib) {
    memory_moment moment;
    moment.file = std::to_string(saved_ms);
    moment.saved_ms = saved_ms;
    moment.started_ms = 10'000;
    moment.parts.live = live_mib * mib;
    moment.parts.held = held_mib * mib;
    moment.parts.resident = (live_mib + held_mib) * mib;
    return moment;
}

memory_course sample_course() {
    memory_course course;
    add(course, moment_at(70'000, 40, 40));
    add(course, moment_at(10'000, 10, 0));
    add(course, moment_at(40'000, 80, 20));
    course.moments.back().written_at = profile_format::occasion::exit;
    return course;
}

TEST(memory_course, moments_are_in_the_order_of_time) {
    const memory_course course = sample_course();
    std::vector<std::uint64_t> ages;
    for (const memory_moment& each : course.moments) ages.push_back(course.age_ms(each));
    EXPECT_EQ(ages, (std::vector<std::uint64_t>{0, 30'000, 60'000}));
    EXPECT_TRUE(course.is_shown());
    EXPECT_FALSE(memory_course{}.is_shown());
}

TEST(memory_course, areas_stand_on_each_other) {
    const std::string figure = course_figure(sample_course(), "x");
    // From 0 to 60 s over 640 pixels from 52 on. The axis ends at 103 MiB or so, 260 pixels up from 268.
    EXPECT_NE(figure.find("<path d=\"M52 242.8L372 66.1L692 167L692 268L372 268L52 268z\" class=\"a0\"/>"),
              std::string::npos)
        << figure;
    EXPECT_NE(figure.find("<path d=\"M52 242.8L372 15.6L692 66.1L692 167L372 66.1L52 242.8z\" class=\"a1\"/>"),
              std::string::npos)
        << figure;
    EXPECT_EQ(figure.find("class=\"a2\""), std::string::npos) << "nothing was cached";
    EXPECT_LT(figure.find("</svg>held by blocks"), figure.find("</svg>blocks in use")) << "the key, from the top";
}

TEST(memory_course, text_has_a_row_for_each_file_or_some_of_them) {
    const std::string text = course_text(sample_course());
    EXPECT_NE(text.find("over time, 3 files\n"), std::string::npos);
    EXPECT_NE(text.find("        30.0 s    100 MiB  80.0 MiB  20.0 MiB       0 B"), std::string::npos) << text;
    EXPECT_NE(text.find("0 B  at the end\n"), std::string::npos) << text;
    memory_course many;
    for (std::uint64_t each = 0; each < 100; ++each) add(many, moment_at(10'000 + each * 1000, 1, 1));
    const std::string some = course_text(many, 10);
    EXPECT_EQ(std::count(some.begin(), some.end(), '\n'), 1 + 1 + 1 + 10 + 1);
    EXPECT_NE(some.find("… 90 more files between these"), std::string::npos) << some;
}

TEST(memory_course, json_has_all_moments) {
    const nlohmann::json read = json_of_course(sample_course());
    ASSERT_EQ(read.size(), 3u);
    EXPECT_EQ(read[1]["parts"]["held_bytes"], 20 * mib);
    EXPECT_EQ(read[1]["resident_bytes"], 100 * mib);
    EXPECT_EQ(read[2]["file"], "70000");
}

TEST(memory_course, maps_are_at_equal_distances) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{24}, std::size_t{25}, std::size_t{47}, std::size_t{1000}}) {
        std::vector<std::size_t> chosen;
        for (std::size_t index = 0; index < count; ++index)
            if (has_map(index, count)) chosen.push_back(index);
        EXPECT_EQ(chosen.size(), std::min<std::size_t>(count, 24)) << count;
        EXPECT_EQ(chosen.front(), 0u);
        EXPECT_EQ(chosen.back(), count - 1);
    }
}

}

}
