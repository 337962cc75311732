// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What the child of a fork finds of a table, while other threads of the parent were using it.

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/handle/handle_table.hpp>

#include "support/child.hpp"
#include "support/process.hpp"

namespace {

using tenure::handle;
using tenure::handle_table;
using tenure::status;

/// Returns   zero when all went as it should: the step that did not, otherwise.
int use(handle_table& table) {
    static char memory[16];
    // More than free entries there may be: some are made ready under the lock. On the stack: in a child, malloc is the
    // sanitizer's, whose locks other threads may have held.
    std::array<handle, 200> all;
    for (handle& each : all) each = table.add(memory, sizeof memory, nullptr, "of a fork");
    if (table.words() == nullptr) return 1;
    std::size_t told = 0;
    table.for_each_live([&](const tenure::handle_info&) { ++told; });
    if (told < all.size()) return 2;
    for (const handle& each : all) {
        if (table.acquire(each) != status::ok) return 3;
        if (table.release(each) != status::ok) return 4;
        if (table.remove(each) != status::ok) return 5;
    }
    return 0;
}

void expect_children_to_use(handle_table& table) {
    const bool is_slow = support::under_sanitizer() || tenure::checks::caller;
    const int rounds = is_slow ? 20 : 100; // a fork costs several times as much with sanitizers, a handle with checks
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int count = 0; count < 3; ++count) {
        threads.emplace_back([&] {
            while (!stop) {
                for (int often = 0; often < 100; ++often) static_cast<void>(table.words()); // takes its lock
                EXPECT_EQ(use(table), 0);
            }
        });
    }
    int answer = 0;
    for (int round = 0; round < rounds && answer == 0; ++round)
        answer = support::answer_of_child([&] { return use(table); });
    EXPECT_EQ(answer, 0);
    stop = true;
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(use(table), 0);
}

TEST(handle_fork, a_child_goes_on_with_the_table_of_the_process_that_other_threads_were_using) {
    expect_children_to_use(handle_table::process());
}

TEST(handle_fork, a_child_goes_on_with_another_table_that_other_threads_were_using) {
    handle_table table;
    expect_children_to_use(table);
}

}
