// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Read in front of every test for Windows: functions of POSIX that its C library lacks.

#include <io.h>
#include <malloc.h>
#include <process.h>
#include <stdlib.h>
#include <sys/types.h>

#include <cstddef>

inline int fork() { return -1; }
inline int setenv(const char* name, const char* value, int) { return ::_putenv_s(name, value); }
inline int unsetenv(const char* name) { return ::_putenv_s(name, ""); }
/// A handler of SIGSEGV gets accesses to memory that may not be touched, and the access repeats when it returns.
struct sigaction {
    void (*sa_handler)(int);
    int sa_flags;
};
extern "C" int sigaction(int number, const struct sigaction* wanted, struct sigaction* before);
inline std::size_t malloc_usable_size(void* block) { return ::_msize(block); }
#define _SC_PAGESIZE 30
inline long sysconf(int) { return 4096; }
inline unsigned alarm(unsigned) { return 0; }
inline int pipe(int (&ends)[2]) { return ::_pipe(ends, 4096, 0x8000); }

namespace testing {
/// A program that abort() or a fault ends has an exit status of its own.
class KilledBySignal {
public:
    explicit KilledBySignal(int) {}
    bool operator()(int status) const { return status != 0; }
};
}
