// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fork.hpp>

namespace tenure::inline TENURE_ABI::platform {

// There is no fork to hear of, and no use in asking again.
bool at_fork(fork_function, fork_function, fork_function) noexcept { return true; }

void lock_open_files() noexcept {}
void unlock_open_files() noexcept {}
void forget_open_files_lock() noexcept {}

}
