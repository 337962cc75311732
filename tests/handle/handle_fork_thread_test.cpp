// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What the child of a fork finds of the process's table, while other threads of the parent were using it.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/handle/handle_table.hpp>

#include "support/process.hpp"

namespace {

using tenure::handle;
using tenure::handle_table;
using tenure::status;

handle_table& table() { return handle_table::process(); }

/// Returns   zero when all went as it should: the step that did not, otherwise.
int use_the_table() {
    static char memory[16];
    std::vector<handle> all(200); // more than free entries there may be: some are made ready under the lock
    for (handle& each : all) each = table().add(memory, sizeof memory, nullptr, "of a fork");
    if (table().words() == nullptr) return 1;
    std::size_t told = 0;
    table().for_each_live([&](const tenure::handle_info&) { ++told; });
    if (told < all.size()) return 2;
    for (handle const& each : all) {
        if (table().acquire(each) != status::ok) return 3;
        if (table().release(each) != status::ok) return 4;
        if (table().remove(each) != status::ok) return 5;
    }
    return 0;
}

/// Returns   what use_the_table() says in a child; -1 when it was killed, by its own alarm for one.
int answer_of_child() {
    ::pid_t const child = ::fork();
    if (child == 0) {
        ::alarm(5);
        std::_Exit(use_the_table());
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

TEST(handle_fork, a_child_goes_on_with_the_table_that_other_threads_were_using) {
    bool const is_slow = support::under_sanitizer() || tenure::checks::caller;
    int const rounds = is_slow ? 20 : 100; // a fork costs several times as much with sanitizers, a handle with checks
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int count = 0; count < 3; ++count) {
        threads.emplace_back([&] {
            while (!stop) {
                for (int often = 0; often < 100; ++often) static_cast<void>(table().words()); // takes its lock
                EXPECT_EQ(use_the_table(), 0);
            }
        });
    }
    int answer = 0;
    for (int round = 0; round < rounds && answer == 0; ++round) answer = answer_of_child();
    EXPECT_EQ(answer, 0);
    stop = true;
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(use_the_table(), 0);
}

}
