// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fault.hpp>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include <sys/auxv.h>
#include <unistd.h>

#include <tenure/platform/memory.hpp>

#include "support/process.hpp"

namespace {

namespace platform = tenure::platform;

const void* volatile seen = nullptr;
volatile platform::fault_access seen_access = platform::fault_access::unknown;
volatile int calls = 0;
sigjmp_buf back;

bool explain(const platform::fault& what) noexcept {
    seen = what.address;
    seen_access = what.access;
    (void)!::write(STDERR_FILENO, "explained\n", 10);
    return true;
}

void count(int) {
    calls = calls + 1;
    ::siglongjmp(back, 1);
}
void count_only(int) { calls = calls + 1; }

/// Each case is a process of its own.
class fault_death : public testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer takes the fault";
    }
    static volatile char* inaccessible() { return static_cast<volatile char*>(platform::reserve(4096, 4096)); }
    static void use(void (*handler)(int), int flags) {
        struct sigaction action {};
        action.sa_handler = handler;
        action.sa_flags = flags;
        ::sigaction(SIGSEGV, &action, nullptr);
    }
};

TEST_F(fault_death, a_function_learns_of_the_fault_and_the_process_ends_as_it_would_have) {
    EXPECT_EXIT(
        {
            platform::on_fault(&explain);
            inaccessible()[7] = 1;
        },
        testing::KilledBySignal(SIGSEGV), "^explained\n$");
}

TEST_F(fault_death, an_earlier_handler_is_called_with_its_own_flags) {
    EXPECT_EXIT(
        {
            use(&count, SA_NODEFER | SA_RESTART);
            if (!platform::on_fault(&explain) || !platform::on_fault(&explain)) std::_Exit(1);
            volatile char* const byte = inaccessible();
            if (::sigsetjmp(back, 0) == 0) byte[3] = 1;
            if (calls != 1 || seen != byte + 3) std::_Exit(2);
            if (seen_access == platform::fault_access::read) std::_Exit(3);
            if (::sigsetjmp(back, 0) == 0) static_cast<void>(byte[4]); // not blocked: SA_NODEFER
            if (calls != 2 || seen_access == platform::fault_access::write) std::_Exit(4);
            struct sigaction now {};
            ::sigaction(SIGSEGV, nullptr, &now);
            std::_Exit((now.sa_flags & SA_RESTART) != 0 && (now.sa_flags & SA_ONSTACK) == 0 ? 0 : 5);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(fault_death, a_handler_for_one_signal_is_called_once) {
    EXPECT_EXIT(
        {
            use(&count, static_cast<int>(SA_RESETHAND));
            platform::on_fault(&explain);
            if (::sigsetjmp(back, 1) == 0) inaccessible()[0] = 1;
            if (calls != 1) std::_Exit(1);
            inaccessible()[0] = 1;
        },
        testing::KilledBySignal(SIGSEGV), "^explained\n$");
}

TEST_F(fault_death, a_signal_that_is_sent_is_no_fault) {
    EXPECT_EXIT(
        {
            use(&count_only, 0);
            platform::on_fault(&explain);
            ::raise(SIGSEGV);
            std::_Exit(calls == 1 && seen == nullptr ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(fault_death, an_ignored_signal_stays_ignored) {
    EXPECT_EXIT(
        {
            use(SIG_IGN, 0);
            if (platform::on_fault(&explain)) std::_Exit(1);
            struct sigaction now {};
            ::sigaction(SIGSEGV, nullptr, &now);
            if (now.sa_handler != SIG_IGN) std::_Exit(2); // the next program would not inherit it
            ::raise(SIGSEGV);
            (void)!::write(STDERR_FILENO, "ignored\n", 8);
            inaccessible()[0] = 1;
        },
        testing::KilledBySignal(SIGSEGV), "^ignored\n$");
}

bool report(const platform::fault& what) noexcept {
    platform::report_fault(
        [](const platform::fault& found, const void*) noexcept {
            char room[32 * 1024]; // more than the stack of the handler has
            std::memset(room, 1, sizeof room);
            seen = found.address;
            (void)!::write(STDERR_FILENO, "reported\n", room[7] == 1 ? 9 : 0);
        },
        what, nullptr);
    return true;
}

TEST_F(fault_death, a_report_needs_little_of_a_short_stack_and_a_recovered_thread_holds_nobody_up) {
    EXPECT_EXIT(
        {
            const std::size_t bytes = std::max<std::size_t>(8192, ::getauxval(AT_MINSIGSTKSZ) + 4096);
            auto* const memory = static_cast<char*>(platform::reserve(bytes + 8192, 4096)); // inaccessible below
            if (!platform::commit(memory + 8192, bytes)) std::_Exit(1);
            stack_t stack{};
            stack.ss_sp = memory + 8192;
            stack.ss_size = bytes;
            if (::sigaltstack(&stack, nullptr) != 0) std::_Exit(2);
            use(&count, SA_ONSTACK);
            platform::on_fault(&report);
            if (::sigsetjmp(back, 1) == 0) inaccessible()[0] = 1;
            std::thread([] {
                if (::sigsetjmp(back, 1) == 0) inaccessible()[0] = 1;
            }).join();
            std::_Exit(calls == 2 ? 0 : 3);
        },
        testing::ExitedWithCode(0), "^reported\nreported\n$");
}

}
