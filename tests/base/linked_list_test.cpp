// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/linked_list.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace {

struct element {
    element* next = nullptr;
    element* previous = nullptr;
};

std::vector<const element*> forwards(const element* first) {
    std::vector<const element*> found;
    for (const element* each = first; each != nullptr; each = each->next) found.push_back(each);
    return found;
}

/// The same elements by the other links.
std::vector<const element*> backwards(const element* first) {
    const element* last = first;
    while (last != nullptr && last->next != nullptr) last = last->next;
    std::vector<const element*> found;
    for (const element* each = last; each != nullptr; each = each->previous) found.insert(found.begin(), each);
    return found;
}

TEST(linked_list, the_newest_element_comes_first) {
    element a, b, c;
    element* first = nullptr;
    for (element* each : {&a, &b, &c}) tenure::detail::push_front(first, *each);
    EXPECT_EQ(forwards(first), (std::vector<const element*>{&c, &b, &a}));
    EXPECT_EQ(backwards(first), forwards(first));
}

TEST(linked_list, elements_leave_from_any_place_and_return) {
    element all[3];
    for (std::size_t leaving = 0; leaving < 3; ++leaving) {
        element* first = nullptr;
        for (element& each : all) tenure::detail::push_front(first, each);
        tenure::detail::unlink(first, all[leaving]);
        std::vector<const element*> rest{&all[2], &all[1], &all[0]};
        std::erase(rest, &all[leaving]);
        EXPECT_EQ(forwards(first), rest);
        EXPECT_EQ(backwards(first), rest);
        tenure::detail::push_front(first, all[leaving]);
        EXPECT_EQ(first, &all[leaving]);
        EXPECT_EQ(backwards(first), forwards(first));
    }
}

TEST(linked_list, the_last_element_leaves_an_empty_list) {
    element only;
    element* first = nullptr;
    tenure::detail::push_front(first, only);
    tenure::detail::unlink(first, only);
    EXPECT_EQ(first, nullptr);
}

}
