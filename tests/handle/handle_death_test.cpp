// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <string>

#include "handle/fixture.hpp"
#include "support/reports.hpp"

namespace {

using tenure::handle;
using tenure::status;

TEST_F(handles, checked_builds_say_who_holds_what_was_to_be_removed) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "needs checks";
    handle const one = add();
    ASSERT_EQ(table_.acquire(one), status::ok);
    support::heard_reports const heard;
    EXPECT_EQ(table_.remove(one), status::still_held);
    EXPECT_NE(heard.last().find("is held 1 time, by thread "), std::string::npos) << heard.last();
    EXPECT_EQ(table_.release(one), status::ok);
    EXPECT_EQ(table_.remove(one), status::ok);
    EXPECT_EQ(heard.count(), 1u);
}

}
