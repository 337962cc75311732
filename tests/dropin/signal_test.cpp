// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Signals that interrupt malloc: a handler that allocates, and the report that a signal asks for.

#include <gtest/gtest.h>

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "preloaded.hpp"

namespace {

timer_t timer;
volatile sig_atomic_t signal_count = 0;

/// Once, after a time that is another each time.
void arm() {
    itimerspec when{};
    when.it_value.tv_nsec = 20'000 + signal_count * 7919 % 50'000;
    ::timer_settime(timer, 0, &when, nullptr);
}

[[nodiscard]] bool start_timer(int signal) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal;
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return false;
    arm();
    return true;
}

void allocate_in_handler(int) {
    std::free(hidden(std::malloc(100'000)));
    signal_count = signal_count + 1;
    arm();
}

class signals : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_FALSE(dropin_name().empty());
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }
    void TearDown() override {
        ::unsetenv("TENURE_MALLOC_STATS_SIGNAL");
        ::unsetenv("TENURE_MALLOC_STATS");
    }
};

TEST_F(signals, a_handler_that_interrupts_malloc_and_allocates_ends_the_process_with_a_message) {
    EXPECT_EXIT(
        {
            ::alarm(20); // when it hangs
            struct sigaction action {};
            action.sa_handler = &allocate_in_handler;
            const bool is_started = ::sigaction(SIGUSR1, &action, nullptr) == 0 && start_timer(SIGUSR1);
            while (is_started) std::free(hidden(std::malloc(100'000))); // past the caches: under a lock
        },
        testing::KilledBySignal(SIGABRT), "interrupted another call of the same thread");
}

TEST_F(signals, a_report_is_written_at_once_by_a_process_that_allocates_nothing) {
    ::setenv("TENURE_MALLOC_STATS_SIGNAL", std::to_string(SIGUSR2).c_str(), 1);
    EXPECT_EXIT(
        {
            ::raise(SIGUSR2);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^tenure_malloc: .*peak in use .*, now .* in [0-9]+ blocks; .*\n$");
}

TEST_F(signals, a_report_has_the_form_of_the_report_at_exit) {
    ::setenv("TENURE_MALLOC_STATS_SIGNAL", std::to_string(SIGUSR2).c_str(), 1);
    ::setenv("TENURE_MALLOC_STATS", "json", 1);
    EXPECT_EXIT(
        {
            ::raise(SIGUSR2);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "\"event\":\"signal\",\"peak_bytes\":[0-9]+,\"live_bytes\":[0-9]+");
}

// Each signal comes after the call that the one before it interrupted, so each has its report: at once, or at the end
// of the call.
TEST_F(signals, reports_may_interrupt_malloc_and_free) {
    ::setenv("TENURE_MALLOC_STATS_SIGNAL", std::to_string(SIGUSR2).c_str(), 1);
    EXPECT_EXIT(
        {
            ::alarm(60); // when it hangs
            const bool is_started = start_timer(SIGUSR2);
            void* blocks[64]{};
            for (std::size_t turn = 0; is_started && signal_count < 200; ++turn) {
                void*& block = blocks[turn % std::size(blocks)];
                std::free(block);
                block = hidden(std::malloc(turn % 4 == 0 ? turn % 1000 : 40'000 + turn * 977 % 200'000));
                itimerspec left{};
                if (::timer_gettime(timer, &left) != 0 || left.it_value.tv_nsec != 0) continue;
                signal_count = signal_count + 1;
                arm();
            }
            std::_Exit(is_started ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^(tenure_malloc: [^\n]*, now [^\n]*\n){200,201}$");
}

TEST_F(signals, a_signal_that_is_ignored_stays_ignored) {
    ::setenv("TENURE_MALLOC_STATS_SIGNAL", std::to_string(SIGUSR2).c_str(), 1);
    const auto before = ::signal(SIGUSR2, SIG_IGN); // the process that is started here inherits it
    EXPECT_EXIT(
        {
            ::raise(SIGUSR2);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^tenure: TENURE_MALLOC_STATS_SIGNAL=12 has no effect: [^\n]*\n$");
    ::signal(SIGUSR2, before);
}

TEST_F(signals, the_programs_own_handler_is_kept) {
    ::setenv("TENURE_MALLOC_STATS_SIGNAL", std::to_string(SIGUSR2).c_str(), 1);
    EXPECT_EXIT(
        {
            static volatile sig_atomic_t is_called = 0;
            ::signal(SIGUSR2, [](int) { is_called = 1; });
            for (int turn = 0; turn < 1000; ++turn) std::free(hidden(std::malloc(100'000)));
            ::raise(SIGUSR2);
            std::_Exit(is_called == 1 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

}
