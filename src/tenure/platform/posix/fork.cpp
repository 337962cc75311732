// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fork.hpp>

#include <pthread.h>

namespace tenure::inline TENURE_ABI::platform {

bool at_fork(fork_function before, fork_function in_parent, fork_function in_child) noexcept {
    return ::pthread_atfork(before, in_parent, in_child) == 0;
}

}
