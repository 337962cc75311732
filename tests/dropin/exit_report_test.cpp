// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The report at the program's end.

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "preloaded.hpp"

namespace {

/// As a daemon begins: closes what it was given, and opens files of its own, which get the same numbers.
void replace_descriptors(int file) {
    for (int number = 3; number < 1024; ++number) {
        if (number != file) ::close(number);
    }
    for (int each = 0; each < 300; ++each) {
        if (::dup(file) < 0) std::_Exit(2);
    }
}

/// Runs a child that leaves by exit(), so that it reports. Returns   whether it ended so.
template<class Work>
[[nodiscard]] bool child_exits_after(Work&& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        std::exit(0); // NOLINT(concurrency-mt-unsafe): the only thread that there is
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(exit_report, is_written_to_standard_error_and_into_no_file_that_the_program_opened_since) {
    ASSERT_FALSE(dropin_name().empty());
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ::setenv("TENURE_MALLOC_STATS", "text", 1); // of the process that is started here
    EXPECT_EXIT(
        {
            const int file = ::memfd_create("the program's own", 0);
            bool good = child_exits_after([] {}); // its report is what standard error must have
            good = child_exits_after([file] { replace_descriptors(file); }) && good;
            struct stat found {};
            good = ::fstat(file, &found) == 0 && found.st_size == 0 && good;
            std::_Exit(good ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^tenure_malloc: .*peak in use [^\n]*\n$");
}

/// A thread that is stopped for good, now and then inside a call that holds a lock.
void stop_a_thread_that_allocates() {
    static std::atomic<bool> has_begun{false}, is_stopped{false};
    static_cast<void>(std::signal(SIGUSR1, [](int) {
        is_stopped = true;
        for (;;) ::pause();
    }));
    std::thread worker([] {
        for (;;) {
            std::free(hidden(std::malloc(100'000))); // past the caches: under a lock
            has_begun = true;
        }
    });
    while (!has_begun) std::this_thread::yield();
    ::pthread_kill(worker.native_handle(), SIGUSR1);
    worker.detach();
    while (!is_stopped) std::this_thread::yield();
}

// A good part of the threads is stopped under a lock. Without a limit, these processes would wait for ever.
TEST(exit_report, does_not_wait_for_a_thread_that_was_stopped_under_a_lock) {
    ASSERT_FALSE(dropin_name().empty());
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ::setenv("TENURE_MALLOC_STATS", "text", 1);
    EXPECT_EXIT(
        {
            bool good = true;
            for (int count = 0; good && count < 50; ++count)
                good = child_exits_after([] {
                    ::alarm(20); // when it hangs
                    stop_a_thread_that_allocates();
                });
            std::_Exit(good ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        "no statistics at exit: a call of a thread holds a lock of the heap\\. Join the threads before");
}

}
