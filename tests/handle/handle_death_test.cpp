// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <chrono>
#include <string>
#include <thread>

#include <tenure/handle/detail/handle_holders.hpp>

#include "handle/fixture.hpp"
#include "support/reports.hpp"

namespace {

using tenure::handle;
using tenure::status;

TEST_F(handles, checked_builds_say_who_holds_what_was_to_be_removed) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "needs checks";
    const handle one = add();
    ASSERT_EQ(table_.acquire(one), status::ok);
    const support::heard_reports heard;
    EXPECT_EQ(table_.remove(one), status::still_held);
    EXPECT_NE(heard.last().find("is held 1 time, by thread "), std::string::npos) << heard.last();
    EXPECT_EQ(table_.release(one), status::ok);
    EXPECT_EQ(table_.remove(one), status::ok);
    EXPECT_EQ(heard.count(), 1u);
}

TEST_F(handles, checked_builds_say_it_once_for_each_removal_and_who_it_was_that_is_about_to_be_noted) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "needs checks";
    const handle one = add();
    const support::heard_reports heard;
    // As between an acquire's count and its note: the count is there, and nobody is known.
    tenure::detail::handle_word& word = const_cast<tenure::detail::handle_word&>(table_.words()[one.entry]);
    word.fetch_add(tenure::detail::one_holder);
    std::thread noter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        tenure::detail::add_holder(table_, one);
    });
    tenure::detail::report_holders(table_, one, 1);
    noter.join();
    EXPECT_NE(heard.last().find("is held 1 time, by thread "), std::string::npos) << heard.last();
    EXPECT_EQ(heard.count(), 1u);
    EXPECT_EQ(table_.release(one), status::ok);
    tenure::detail::report_holders(table_, one, 1);
    EXPECT_EQ(heard.count(), 1u) << "nobody holds it any more";
    EXPECT_EQ(table_.remove(one), status::ok);
}

}
