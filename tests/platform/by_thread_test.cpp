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
        for (const char& thread : threads) {
            owned* const found = tested.find(&thread);
            ASSERT_NE(found, nullptr);
            EXPECT_EQ(found->thread, &thread);
            tested.remove(*found);
        }
    }
    for (const char& thread : threads) EXPECT_EQ(tested.find(&thread), nullptr);
}

TEST(by_thread, keeps_only_the_object_of_one_thread) {
    constexpr std::size_t thread_count = 200; // several in each list
    std::vector<char> threads(thread_count);
    for (const std::size_t kept : {std::size_t{0}, std::size_t{77}, thread_count}) {
        const char stranger = 0;
        const void* const thread = kept < thread_count ? &threads[kept] : &stranger;
        std::vector<owned> all(thread_count);
        tenure::platform::by_thread<owned> tested;
        for (std::size_t each = 0; each < thread_count; ++each) {
            all[each].thread = &threads[each];
            tested.add(all[each]);
        }
        tested.keep_only(thread);
        for (std::size_t each = 0; each < thread_count; ++each)
            EXPECT_EQ(tested.find(&threads[each]), each == kept ? &all[each] : nullptr);
        if (kept == thread_count) continue;
        tested.remove(all[kept]); // the list it is in has nothing else
        EXPECT_EQ(tested.find(thread), nullptr);
        tested.add(all[kept]);
        EXPECT_EQ(tested.find(thread), &all[kept]);
    }
}

}
