// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Scopes that end on another thread than they began on.

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>
#include <tenure/lifetime/scratch.hpp>

#include "lifetime/fixture.hpp"
#include "support/reports.hpp"

namespace {

using tenure::temp;
using tenure::temp_scope;

class scope_thread_death : public testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    }
};

TEST_F(scope_thread_death, a_temp_scope_that_ends_on_another_thread_is_reported) {
    static_cast<void>(temp::allocate(1));
    auto scope = std::make_unique<temp_scope>();
    EXPECT_DEATH(support::on_fresh_thread([&] { scope.reset(); }),
                 "a temp_scope ended on another thread than it began");
    EXPECT_DEATH(support::on_fresh_thread([&] {
                     static_cast<void>(temp::allocate(1));
                     const temp_scope own;
                     scope.reset();
                 }),
                 "a temp_scope ended on another thread than it began");
    scope.reset();
    tenure::reset_temp();
}

TEST_F(scope_thread_death, a_scratch_scope_that_ends_on_another_thread_is_reported) {
    auto scope = std::make_unique<tenure::scratch_scope>();
    EXPECT_DEATH(support::on_fresh_thread([&] { scope.reset(); }), "ended on another thread than it began");
    EXPECT_DEATH(support::on_fresh_thread([&] {
                     const tenure::scratch_scope own;
                     scope.reset();
                 }),
                 "ended on another thread than it began");
    scope.reset();
}

TEST_F(scope_thread_death, a_scope_of_an_ended_thread_is_not_taken_for_one_of_the_thread_that_has_its_record) {
    std::unique_ptr<temp_scope> scope;
    support::on_fresh_thread([&] { scope = std::make_unique<temp_scope>(); });
    const support::heard_reports heard;
    support::on_fresh_thread([&] {
        const temp_scope own;
        scope.reset();
    });
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("another thread"), std::string::npos) << heard.last();
}

TEST_F(scope_thread_death, a_tag_scope_that_ends_on_another_thread_is_reported_and_changes_no_tag) {
    auto scope = std::make_unique<tenure::tag_scope>("scope_thread_death");
    EXPECT_DEATH(support::on_fresh_thread([&] { scope.reset(); }), "a tag_scope ended on another thread than it began");
    const support::heard_reports heard;
    support::on_fresh_thread([&] {
        const tenure::tag_scope own("scope_thread_death, own");
        scope.reset();
        EXPECT_EQ(tenure::current_tag().name(), "scope_thread_death, own");
    });
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    tenure::detail::change_tag(0); // this thread's tag, which no scope takes back any more
}

}
