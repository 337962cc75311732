// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Ctrl-C: ends the running worker and keeps the finished measurements.

#include <csignal>

namespace tenure::lab {

/// During the lifetime of a guard, SIGINT, SIGTERM and SIGHUP only set a flag. They are blocked except while the
/// harness waits, so that none can arrive between checking the flag and going to sleep.
class interrupt_guard {
public:
    interrupt_guard();
    ~interrupt_guard();
    interrupt_guard(const interrupt_guard&) = delete;
    interrupt_guard& operator=(const interrupt_guard&) = delete;

private:
    sigset_t before_;
    struct sigaction interrupt_before_, terminate_before_, hangup_before_;
};

/// Whether one of those signals has arrived.
[[nodiscard]] bool interrupted();

/// The signal mask for a wait and for a child, with those signals unblocked.
[[nodiscard]] sigset_t waiting_signals();

/// For tests: resets the flag.
void forget_interrupt();

}
