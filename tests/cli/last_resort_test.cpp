// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/last_resort.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace tenure::lab {

namespace {

template<class Body>
std::string said_by(Body&& body) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_and_tell(body), exit_code::failed);
    return testing::internal::GetCapturedStderr();
}

TEST(last_resort, what_is_returned_is_the_exit_code) {
    EXPECT_EQ(run_and_tell([] { return 7; }), 7);
}

TEST(last_resort, an_exception_is_a_sentence_and_an_exit_code) {
    EXPECT_EQ(said_by([]() -> int { throw std::runtime_error("the \x1b[31mreason"); }),
              "tenure: failed: the  [31mreason\n");
    EXPECT_EQ(said_by([]() -> int { throw std::bad_alloc(); }), "tenure: out of memory\n");
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_and_tell([]() -> int { throw std::bad_alloc(); }, "a part may fit"), exit_code::failed);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "tenure: out of memory: a part may fit\n");
    EXPECT_EQ(said_by([]() -> int { throw 3; }), "tenure: failed: an exception of unknown type\n");
}

}

}
