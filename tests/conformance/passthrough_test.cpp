// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Runs the tests of this executable again, in processes whose environment sends parts to malloc.

#include <string_view>

#include <gtest/gtest.h>

#include <tenure/base/config.hpp>

#include "support/again.hpp"
#include "support/process.hpp"

namespace {

class passthrough : public testing::TestWithParam<const char*> {};

TEST_P(passthrough, the_same_promises_hold_when_malloc_serves) {
    // There each run takes long, and which part malloc serves makes no difference to it.
    if ((support::under_address_sanitizer() || tenure::checks::caller) && GetParam() != std::string_view("all"))
        GTEST_SKIP() << "all at once";
    const support::outcome seen = support::run_again({{"TENURE_PASSTHROUGH", GetParam()}}, "-*passthrough.*");
    EXPECT_EQ(seen.status, 0) << seen.output;
    EXPECT_NE(seen.output.find("[  PASSED  ]"), std::string::npos) << seen.output;
}

INSTANTIATE_TEST_SUITE_P(parts, passthrough,
                         testing::Values("all", "arena", "temp", "temp_job", "pool", "small_object", "affinity",
                                         "temp,temp_job,pool"),
                         [](const auto& each) {
                             std::string name = each.param;
                             for (char& letter : name) letter = letter == ',' ? '_' : letter;
                             return name;
                         });

}
