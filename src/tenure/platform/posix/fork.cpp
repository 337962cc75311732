// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fork.hpp>

#include <pthread.h>

// Internal functions of glibc, declared in no header. Other C libraries lack them.
extern "C" {
__attribute__((weak)) void _IO_list_lock() noexcept;
__attribute__((weak)) void _IO_list_unlock() noexcept;
__attribute__((weak)) void _IO_list_resetlock() noexcept;
}

namespace tenure::inline TENURE_ABI::platform {

bool at_fork(fork_function before, fork_function in_parent, fork_function in_child) noexcept {
    return ::pthread_atfork(before, in_parent, in_child) == 0;
}

void lock_open_files() noexcept {
    if (_IO_list_lock != nullptr) _IO_list_lock();
}

void unlock_open_files() noexcept {
    if (_IO_list_unlock != nullptr) _IO_list_unlock();
}

void forget_open_files_lock() noexcept {
    if (_IO_list_resetlock != nullptr) _IO_list_resetlock();
}

}
