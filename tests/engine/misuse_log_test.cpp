// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/misuse_log.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/report.hpp>

namespace {

std::vector<std::string>& heard() {
    static std::vector<std::string> texts;
    return texts;
}

class misuse_logs : public testing::Test {
protected:
    misuse_logs() {
        heard().clear();
        tenure::set_report_handler(
            [](tenure::report_kind, std::string_view text) noexcept { heard().emplace_back(text); });
    }
    ~misuse_logs() override { tenure::set_report_handler(nullptr); }
};

TEST_F(misuse_logs, reports_what_was_added_in_that_order) {
    tenure::detail::misuse_log log;
    EXPECT_TRUE(log.empty());
    int block = 0;
    log.add("a block was freed twice", &block, "Look for a second owner.");
    log.add("a block was overrun", &block, "Check the size.");
    EXPECT_FALSE(log.empty());
    EXPECT_TRUE(heard().empty()) << "nothing is reported before report()";
    log.report();
    ASSERT_EQ(heard().size(), 2u);
    EXPECT_NE(heard()[0].find("a block was freed twice"), std::string::npos);
    EXPECT_NE(heard()[0].find("Look for a second owner."), std::string::npos);
    EXPECT_NE(heard()[1].find("a block was overrun"), std::string::npos);
}

TEST_F(misuse_logs, holds_the_first_eight) {
    tenure::detail::misuse_log log;
    for (int count = 0; count < 20; ++count) log.add("a mistake", nullptr, "");
    log.report();
    EXPECT_EQ(heard().size(), 8u);
}

}
