// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// One flag, set by a signal handler.

#include "bench/harness/worker/interrupt.hpp"

#include <array>

namespace tenure::lab {

namespace {

volatile std::sig_atomic_t flag = 0;
constexpr std::array<int, 3> watched{SIGINT, SIGTERM, SIGHUP};

extern "C" void remember_interrupt(int) { flag = 1; }

}

interrupt_guard::interrupt_guard() {
    struct sigaction action {};
    action.sa_handler = remember_interrupt; // without SA_RESTART, so that waiting calls return
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, &interrupt_before_);
    ::sigaction(SIGTERM, &action, &terminate_before_);
    ::sigaction(SIGHUP, &action, &hangup_before_);
    sigset_t block;
    sigemptyset(&block);
    for (int signal : watched) sigaddset(&block, signal);
    ::sigprocmask(SIG_BLOCK, &block, &before_);
}

interrupt_guard::~interrupt_guard() {
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
    ::sigaction(SIGINT, &interrupt_before_, nullptr);
    ::sigaction(SIGTERM, &terminate_before_, nullptr);
    ::sigaction(SIGHUP, &hangup_before_, nullptr);
}

bool interrupted() {
    sigset_t pending;
    ::sigpending(&pending);
    for (int signal : watched) {
        if (sigismember(&pending, signal) == 1) flag = 1;
    }
    return flag != 0;
}

sigset_t waiting_signals() {
    sigset_t set;
    ::sigprocmask(SIG_BLOCK, nullptr, &set);
    for (int signal : watched) sigdelset(&set, signal);
    return set;
}

void forget_interrupt() { flag = 0; }

}
