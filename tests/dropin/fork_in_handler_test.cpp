// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// fork() in a signal handler, which POSIX allows: what it interrupts may be malloc.

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "preloaded.hpp"

namespace {

constexpr int fork_count = 300;

volatile sig_atomic_t forks = 0, failures = 0;
timer_t timer;

/// Once, after a time that is another each time.
void arm() {
    itimerspec when{};
    when.it_value.tv_nsec = 50'000 + forks * 7919 % 100'000;
    ::timer_settime(timer, 0, &when, nullptr);
}

void fork_and_wait(int) {
    const int saved = errno;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    int status = -1;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (status != 0) failures = failures + 1;
    forks = forks + 1;
    if (forks < fork_count) arm();
    errno = saved;
}

/// Blocks of all kinds, most of them from under a lock, until all forks are done.
void use_malloc() {
    void* blocks[64]{};
    for (std::size_t turn = 0; forks < fork_count; ++turn) {
        void*& block = blocks[turn % std::size(blocks)];
        std::free(block);
        block = hidden(std::malloc(turn % 4 == 0 ? turn % 1000 : 40'000 + turn * 977 % 200'000));
    }
    for (void* const block : blocks) std::free(block);
}

// In a process of its own, so that it has one thread for certain.
TEST(fork_in_handler, may_interrupt_malloc_and_free_of_a_program_with_one_thread) {
    ASSERT_FALSE(dropin_name().empty());
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            ::alarm(20); // when it hangs
            struct sigaction action {};
            action.sa_handler = &fork_and_wait;
            action.sa_flags = SA_RESTART;
            sigevent event{};
            event.sigev_notify = SIGEV_SIGNAL;
            event.sigev_signo = SIGUSR1;
            const bool is_set =
                ::sigaction(SIGUSR1, &action, nullptr) == 0 && ::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
            if (!is_set) std::_Exit(3);
            arm();
            use_malloc();
            std::_Exit(failures == 0 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

}
