// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// At a fork the C library's lock of open files comes before the heap's. Of a thread that has a file and allocates, and
/// one that has the list and waits for the file, neither would go on if the thread that forks had the heap's locks and
/// waited for the list.

#include <tenure/platform/fork.hpp>
#include <tenure/platform/fork_handler.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

constexpr platform::fork_steps steps_of_open_files{
    [](void*) noexcept { platform::lock_open_files(); },
    [](void*) noexcept { platform::unlock_open_files(); },
    [](void*) noexcept { platform::forget_open_files_lock(); },
};
constinit platform::fork_handler of_open_files{platform::fork_order::open_files, nullptr, steps_of_open_files};

__attribute__((constructor(101))) void register_fork_handlers() noexcept { of_open_files.enlist(); }

}

}
