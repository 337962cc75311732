// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Windows has no limits like these: tests that set one are left out (tests/windows/windows.cmake).

using rlim_t = unsigned long long;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
#define RLIMIT_AS 9
#define RLIMIT_FSIZE 1
#define RLIMIT_NPROC 6
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIM_INFINITY (~rlim_t{0})
inline int getrlimit(int, rlimit*) { return -1; }
inline int setrlimit(int, const rlimit*) { return -1; }

struct rusage {
    long ru_minflt, ru_majflt, ru_maxrss;
};
#define RUSAGE_SELF 0
#define RUSAGE_THREAD 1
inline int getrusage(int, rusage*) { return -1; }
