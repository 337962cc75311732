// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Report handlers of C that come and go while others report, set handlers of their own, and fork.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/report.hpp>
#include <tenure/tenure.h>

#include "support/process.hpp"

namespace {

void count(void* context, std::uint32_t, const char*, std::size_t) { ++*static_cast<std::atomic<int>*>(context); }

void say_something() { tenure::report(tenure::report_kind::notice, "something to know"); }

TEST(capi_reports, a_handler_that_is_set_is_heard_whoever_removed_another_meanwhile) {
    std::atomic<int> heard{0};
    for (int round = 0; round < 500; ++round) {
        std::atomic<int> ready{0};
        const auto at_once = [&](tn_report_handler handler) {
            ++ready;
            while (ready < 2) std::this_thread::yield();
            tn_set_report_handler(handler, &heard);
        };
        std::thread other([&] { at_once(nullptr); });
        at_once(&count);
        other.join();
        // Whoever was last: what is installed is either the default, or hears.
        const tenure::report_handler installed = tenure::set_report_handler(nullptr);
        if (installed == nullptr) continue;
        tenure::set_report_handler(installed);
        const int before = heard;
        say_something();
        ASSERT_EQ(heard, before + 1) << "in round " << round;
    }
    tn_set_report_handler(nullptr, nullptr);
}

TEST(capi_reports, what_cpp_code_puts_back_after_the_handler_was_removed_is_the_default) {
    std::atomic<int> heard{0};
    tn_set_report_handler(&count, &heard);
    const tenure::report_handler former = tenure::set_report_handler(nullptr);
    tn_set_report_handler(nullptr, nullptr);
    tenure::set_report_handler(former);
    testing::internal::CaptureStderr();
    say_something();
    say_something();
    const std::string written = testing::internal::GetCapturedStderr();
    tenure::set_report_handler(nullptr);
    EXPECT_EQ(written, "tenure: something to know\ntenure: something to know\n");
    EXPECT_EQ(heard, 0);
}

TEST(capi_reports, a_child_reports_whatever_other_threads_reported_and_set) {
    const int rounds = support::under_sanitizer() ? 20 : 100; // a fork costs several times as much there
    static std::atomic<int> heard{0};
    tn_set_report_handler(&count, &heard);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int index = 0; index < 3; ++index) {
        threads.emplace_back([&, index] {
            while (!stop) index == 0 ? tn_set_report_handler(&count, &heard) : say_something();
        });
    }
    int failed = 0;
    for (int round = 0; round < rounds && failed == 0; ++round) {
        const ::pid_t child = ::fork();
        if (child == 0) {
            ::alarm(5);
            const int before = heard;
            say_something();
            tn_set_report_handler(&count, &heard);
            say_something();
            std::_Exit(heard == before + 2 ? 0 : 1);
        }
        int status = 0;
        const bool is_well = ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        failed += !is_well;
    }
    stop = true;
    for (std::thread& each : threads) each.join();
    tn_set_report_handler(nullptr, nullptr);
    EXPECT_EQ(failed, 0);
}

}
