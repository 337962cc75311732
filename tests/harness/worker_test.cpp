// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/worker/worker.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace tenure::lab;

TEST(worker, its_message_is_read_back) {
    const auto found = parse_findings(R"({"values":[["alloc","warm","ns/op",0,1.5],["free","warm","ns/op",2,null]],)"
                                      R"("lists":[["distances","cold","bytes",[4,-12]]],"notes":["n"],)"
                                      R"("proof":"p","failure":""})");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->values.at(0).value, 1.5);
    EXPECT_TRUE(std::isnan(found->values.at(1).value));
    EXPECT_EQ(found->values.at(1).sense, better::neither);
    EXPECT_EQ(found->lists.at(0).values, (std::vector<std::int64_t>{4, -12}));
    EXPECT_EQ(found->proof, "p");
}

TEST(worker, a_list_that_differs_by_round_is_told_from_one_that_does_not) {
    const auto found =
        parse_findings(R"({"values":[],"lists":[["distances","","bytes",[4]]],)"
                       R"("courses":[["resident","","KiB",[1,2]]],"notes":[],"proof":"p","failure":""})");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->lists.at(0).in_each_round, measured_list::the_same);
    EXPECT_EQ(found->lists.at(1).in_each_round, measured_list::a_sample);
    EXPECT_EQ(found->lists.at(1).values, (std::vector<std::int64_t>{1, 2}));
}

TEST(worker, half_a_message_is_none) {
    for (const char* text : {"", "{", "{}", "[]", "1", R"({"values":[["alloc"]],"lists":[],"notes":[],"proof":""})"}) {
        EXPECT_FALSE(parse_findings(text)) << text;
    }
}

TEST(worker, its_command_line_carries_every_option) {
    constexpr std::array<option_spec, 2> options{{{"count", 10, 100, 1, 1000, "x"}, {"bytes", 4, 4, 1, 8, "y"}}};
    const auto words = worker_arguments({"toys", 1, 2, 3, 4, "/lib/x.so"}, parameters(options));
    EXPECT_EQ(words, (std::vector<std::string>{std::string{worker_command}, "toys", "1", "2", "3", "4", "/lib/x.so",
                                               "count=10", "bytes=4"}));
}

TEST(worker, another_command_line_is_not_taken) {
    std::array<char, 8> program{"tenure"}, word{"list"};
    std::array<char*, 3> words{program.data(), word.data(), nullptr};
    EXPECT_FALSE(run_if_worker(2, words.data(), {}));
    EXPECT_FALSE(run_if_worker(1, words.data(), {}));
}

}
