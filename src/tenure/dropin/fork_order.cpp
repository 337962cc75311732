// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// At a fork, the C library's lock of its list of open files is taken before the heap's locks. Otherwise three threads
/// can deadlock: one locks a file and allocates, one locks the list and waits for the file, and the forking thread
/// holds the heap's locks and waits for the list.

#include <tenure/platform/fork.hpp>
#include <tenure/platform/fork_handler.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

constexpr platform::fork_steps steps_of_open_files{
    [](void*) noexcept { platform::lock_open_files(); }, [](void*) noexcept { platform::unlock_open_files(); },
    [](void*) noexcept { platform::forget_open_files_lock(); },
    nullptr, // its owner may take it again
};
constinit platform::fork_handler of_open_files{platform::fork_order::open_files, nullptr, steps_of_open_files};

TENURE_AT_LOAD(register_fork_handlers) { of_open_files.enlist(); }

}

}
