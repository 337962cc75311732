// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// At a fork the C library's lock of open files comes before the heap's. Of a thread that has a file and allocates, and
/// one that has the list and waits for the file, neither would go on if the thread that forks had the heap's locks and
/// waited for the list.

#include <atomic>

#include <tenure/platform/fork.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

// Written by the thread that has the lock, or is the only one.
constinit std::atomic<bool> is_held{false};

// As the heap: one thread needs no locks, and a signal handler that forks may have interrupted who holds them.
void before_fork() noexcept {
    if (platform::is_single_threaded()) return;
    platform::lock_open_files();
    is_held.store(true, std::memory_order_relaxed);
}

void in_parent() noexcept {
    if (!is_held.exchange(false, std::memory_order_relaxed)) return;
    platform::unlock_open_files();
}

void in_child() noexcept {
    if (is_held.exchange(false, std::memory_order_relaxed)) platform::forget_open_files_lock();
}

// After the heap has asked, in an earlier constructor, so that at a fork this comes before it.
__attribute__((constructor)) void hear_of_forks() noexcept { platform::at_fork(&before_fork, &in_parent, &in_child); }

}

}
