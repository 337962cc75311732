// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Ctrl-C: the running worker is ended, what was finished is kept.

#include <csignal>

namespace tenure::lab {

/// While one of these lives, SIGINT, SIGTERM and SIGHUP only set a flag. They are blocked, save where the harness
/// waits, so that none can slip in between looking at the flag and going to sleep.
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

/// Whether one of those signals has come.
[[nodiscard]] bool interrupted();

/// The signals that a wait must let through, and that a child must have let through.
[[nodiscard]] sigset_t waiting_signals();

/// For tests: as if no signal had come.
void forget_interrupt();

}
