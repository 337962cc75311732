// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/thread_parts.hpp>

#include <set>

#include <gtest/gtest.h>

namespace {

struct thread_part {
    thread_part* next = nullptr;
    thread_part* previous = nullptr;
};
using parts = tenure::detail::thread_parts<thread_part>;

std::set<const thread_part*> owned(const parts& of) {
    std::set<const thread_part*> found;
    of.for_each_owned([&](const thread_part& part) { found.insert(&part); });
    return found;
}
std::set<const thread_part*> all(const parts& of) {
    std::set<const thread_part*> found;
    of.for_each([&](const thread_part& part) { EXPECT_TRUE(found.insert(&part).second); });
    return found;
}

TEST(thread_parts, a_child_owns_the_forking_threads_part_only) {
    parts list;
    thread_part mine, others[3];
    list.add(others[0]);
    list.add(mine);
    for (thread_part* each : {&others[1], &others[2]}) list.add(*each);
    list.leave_to_child(&mine);
    EXPECT_EQ(owned(list), std::set<const thread_part*>{&mine});
    EXPECT_EQ(all(list).size(), 4u);
    std::set<const thread_part*> popped;
    while (thread_part* const part = list.pop_ownerless()) popped.insert(part);
    EXPECT_EQ(popped, (std::set<const thread_part*>{&others[0], &others[1], &others[2]}));
    EXPECT_EQ(all(list), std::set<const thread_part*>{&mine});
}

TEST(thread_parts, a_thread_without_a_part_may_fork_twice) {
    parts list;
    thread_part first, second;
    list.add(first);
    list.leave_to_child(nullptr);
    list.add(second);
    list.leave_to_child(nullptr);
    EXPECT_TRUE(owned(list).empty());
    EXPECT_EQ(all(list).size(), 2u);
}

TEST(thread_parts, a_part_of_no_thread_waits_for_the_next_one) {
    parts list;
    thread_part part;
    list.add_ownerless(part);
    EXPECT_EQ(list.pop_ownerless(), &part);
    EXPECT_EQ(list.pop_ownerless(), nullptr);
}

TEST(thread_parts, a_visit_may_free_its_part) {
    parts list;
    for (int count = 0; count < 5; ++count) list.add(*new thread_part);
    list.leave_to_child(nullptr);
    list.add(*new thread_part);
    int freed = 0;
    list.for_each([&](thread_part& part) {
        delete &part;
        ++freed;
    });
    EXPECT_EQ(freed, 6);
}

}
