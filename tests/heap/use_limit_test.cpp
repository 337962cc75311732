// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include <tenure/heap/detail/use_limit.hpp>

namespace {

using tenure::detail::use_limit;

TEST(use_limit, allows_everything_until_it_is_set) {
    use_limit limit;
    EXPECT_FALSE(limit.is_set());
    EXPECT_TRUE(limit.allows(SIZE_MAX / 2, SIZE_MAX / 2));
    limit.set(0);
    EXPECT_FALSE(limit.is_set());
    EXPECT_TRUE(limit.allows(1, SIZE_MAX - 1));
}

TEST(use_limit, counts_what_is_in_use_and_what_is_requested) {
    use_limit limit;
    limit.set(1000);
    EXPECT_TRUE(limit.allows(0, 1000));
    EXPECT_FALSE(limit.allows(0, 1001));
    EXPECT_TRUE(limit.allows(900, 100));
    EXPECT_FALSE(limit.allows(901, 100));
    EXPECT_FALSE(limit.allows(2000, 1)); // other threads have exceeded it
    EXPECT_FALSE(limit.allows(1, SIZE_MAX));
}

TEST(use_limit, asks_for_a_trim_when_free_memory_could_exceed_it) {
    use_limit limit;
    limit.note_use(5000);
    EXPECT_FALSE(limit.is_trim_due()) << "it is not set";
    limit.set(1000);
    limit.note_use(1000);
    EXPECT_FALSE(limit.is_trim_due());
    limit.note_use(1);
    EXPECT_TRUE(limit.is_trim_due());
    limit.start_again(400);
    EXPECT_FALSE(limit.is_trim_due());
    limit.note_use(600);
    EXPECT_FALSE(limit.is_trim_due());
    limit.note_use(1);
    EXPECT_TRUE(limit.is_trim_due());
    limit.start_again(1000); // at the limit: an eighth of it may be touched in between
    limit.note_use(125);
    EXPECT_FALSE(limit.is_trim_due());
    limit.note_use(1);
    EXPECT_TRUE(limit.is_trim_due());
}

}
