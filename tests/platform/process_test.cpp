// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/process.hpp>

#include <gtest/gtest.h>

#include <sys/auxv.h>

#include <cstdint>
#include <cstring>
#include <set>

namespace {

namespace platform = tenure::platform;
using platform::random_use;

TEST(process, random_words_of_each_use_differ_and_stay) {
    std::set<std::uint64_t> seen;
    for (const random_use use : {random_use::general, random_use::marks, random_use::canaries, random_use::order}) {
        const platform::random_words drawn = platform::random_of_process(use), again = platform::random_of_process(use);
        for (std::size_t each = 0; each < 4; ++each) {
            EXPECT_TRUE(seen.insert(drawn.words[each]).second);
            EXPECT_EQ(drawn.words[each], again.words[each]);
        }
    }
    for (int each = 0; each < 10; ++each) EXPECT_TRUE(seen.insert(platform::fresh_random().words[0]).second);
}

// glibc makes the canary of the stack protector of them.
TEST(process, random_words_are_not_those_that_the_system_draws_at_exec) {
    std::uint64_t at_exec[2];
    std::memcpy(at_exec, reinterpret_cast<const void*>(::getauxval(AT_RANDOM)), sizeof at_exec);
    for (const std::uint64_t each : platform::random_of_process(random_use::canaries).words) {
        EXPECT_NE(each >> 8, at_exec[0] >> 8);
        EXPECT_NE(each >> 8, at_exec[1] >> 8);
    }
}

}
