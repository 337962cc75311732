// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fork_handler.hpp>

#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "support/child.hpp"

namespace {

namespace platform = tenure::platform;
using platform::fork_handler;
using platform::fork_order;

std::string& steps_seen() {
    static std::string seen;
    return seen;
}
char letter_of(void* owner) { return *static_cast<char*>(owner); }

constexpr platform::fork_steps noting{
    [](void* owner) noexcept { (steps_seen() += letter_of(owner)) += "+ "; },
    [](void* owner) noexcept { (steps_seen() += letter_of(owner)) += "- "; },
    [](void* owner) noexcept { (steps_seen() += letter_of(owner)) += "c "; },
    nullptr,
};

TEST(fork_handler, locks_are_taken_in_order_and_newest_first_and_given_back_from_the_last_on) {
    static char names[] = "abl";
    // One that is not of an object stays listed for ever.
    static constinit fork_handler leaf{fork_order::leaf, &names[2], noting};
    fork_handler older{fork_order::objects, &names[0], noting}, newer{fork_order::objects, &names[1], noting};
    const support::waiting_thread other([] {}); // a process of one thread takes no locks
    older.enlist();
    leaf.enlist();
    newer.enlist();
    newer.enlist(); // counts once
    steps_seen().clear();
    const int answer = support::answer_of_child([] { return steps_seen() == "b+ a+ l+ lc bc ac " ? 0 : 1; });
    EXPECT_EQ(answer, 0);
    EXPECT_EQ(steps_seen(), "b+ a+ l+ l- b- a- ");
    newer.delist();
    older.delist();
    steps_seen().clear();
    EXPECT_EQ(support::answer_of_child([] { return 0; }), 0);
    EXPECT_EQ(steps_seen(), "l+ l- ");
}

TEST(fork_handler, a_lock_that_another_thread_takes_all_the_time_is_free_in_the_child) {
    static platform::mutex lock;
    static constexpr platform::fork_steps steps =
        platform::steps_of_lock<[](void*) noexcept -> platform::mutex& { return lock; }>;
    fork_handler member{fork_order::objects, nullptr, steps};
    member.enlist();
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop) const platform::lock_guard held(lock);
    });
    int answer = 0;
    for (int round = 0; round < 50 && answer == 0; ++round) {
        answer = support::answer_of_child([] {
            const platform::lock_guard held(lock);
            return 0;
        });
    }
    stop = true;
    other.join();
    member.delist();
    EXPECT_EQ(answer, 0);
}

}
