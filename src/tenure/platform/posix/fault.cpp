// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fault.hpp>

#include <signal.h>

#include <atomic>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constinit std::atomic<fault_function> told{nullptr};

void handle(int signal, siginfo_t* info, void*) noexcept {
    const bool is_access = info->si_code > 0; // not a signal sent by kill() or raise()
    const fault_function function = told.load(std::memory_order_acquire);
    if (function != nullptr && is_access) function(info->si_addr);
    // With the default action restored, the access repeats and ends the process as it would have, with its core dump at
    // the right place. A signal that was sent is raised again.
    struct sigaction by_default = {};
    by_default.sa_handler = SIG_DFL;
    ::sigaction(signal, &by_default, nullptr);
    if (!is_access) ::raise(signal);
}

}

bool on_fault(fault_function function) noexcept {
    told.store(function, std::memory_order_release);
    bool is_ours = true;
    for (const int signal : {SIGSEGV, SIGBUS}) {
        struct sigaction present {};
        if (::sigaction(signal, nullptr, &present) != 0) return false;
        const bool is_handled =
            (present.sa_flags & SA_SIGINFO) != 0 ? present.sa_sigaction != &handle : present.sa_handler != SIG_DFL;
        if (is_handled) {
            is_ours = false;
            continue;
        }
        struct sigaction wanted {};
        wanted.sa_sigaction = &handle;
        wanted.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigemptyset(&wanted.sa_mask);
        if (::sigaction(signal, &wanted, nullptr) != 0) return false;
    }
    return is_ours;
}

}
