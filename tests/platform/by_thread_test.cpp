// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/by_thread.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace {

struct owned {
    const void* thread = nullptr;
    owned* next_by_thread = nullptr;
    owned* previous_by_thread = nullptr;
};

TEST(by_thread, finds_what_is_left_of_each_thread) {
    constexpr std::size_t thread_count = 500, of_each = 3;
    std::vector<char> threads(thread_count);
    std::vector<owned> all(thread_count * of_each);
    tenure::platform::by_thread<owned> tested;
    for (std::size_t each = 0; each < all.size(); ++each) {
        all[each].thread = &threads[each % thread_count];
        tested.add(all[each]);
    }
    for (std::size_t round = 0; round < of_each; ++round) {
        for (char const& thread : threads) {
            owned* const found = tested.find(&thread);
            ASSERT_NE(found, nullptr);
            EXPECT_EQ(found->thread, &thread);
            tested.remove(*found);
        }
    }
    for (char const& thread : threads) EXPECT_EQ(tested.find(&thread), nullptr);
}

}
