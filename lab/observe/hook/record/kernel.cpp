// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Per-thread figures from the kernel: getrusage(), the thread's CPU clock, and /proc/thread-self/schedstat.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "observe/hook/interpose/raw.hpp"
#include "observe/hook/record/recorder.hpp"

namespace tenure::lab::hook {

namespace {

[[nodiscard]] std::uint64_t microseconds(const timeval& time) noexcept {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

const char* take_number(const char* text, std::uint64_t& number) noexcept {
    number = 0;
    while (*text == ' ') ++text;
    while (*text >= '0' && *text <= '9') number = number * 10 + static_cast<std::uint64_t>(*text++ - '0');
    return text;
}

}

void ask_kernel_quickly(kernel_figures& answer) noexcept {
    rusage used{};
    raw_call(SYS_getrusage, RUSAGE_THREAD, reinterpret_cast<long>(&used));
    const auto faults = static_cast<std::uint64_t>(used.ru_minflt);
    answer.small_faults = faults > this_thread.own_faults ? faults - this_thread.own_faults : 0;
    answer.large_faults = static_cast<std::uint64_t>(used.ru_majflt);
    answer.voluntary = static_cast<std::uint64_t>(used.ru_nvcsw);
    answer.involuntary = static_cast<std::uint64_t>(used.ru_nivcsw);
    answer.user_us = microseconds(used.ru_utime);
    answer.system_us = microseconds(used.ru_stime);
}

std::uint64_t processor_ns() noexcept {
    timespec spent{};
    raw_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, reinterpret_cast<long>(&spent));
    return static_cast<std::uint64_t>(spent.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(spent.tv_nsec);
}

void ask_kernel(kernel_figures& answer) noexcept {
    ask_kernel_quickly(answer);
    // schedstat has the processor time too, but only as of the last scheduler tick, which may be milliseconds old.
    answer.processor_ns = processor_ns();
    answer.queue_ns = 0;
    char text[96];
    const long file =
        raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/thread-self/schedstat"), O_RDONLY | O_CLOEXEC);
    answer.has_queue = file >= 0 ? 1 : 0;
    if (file < 0) return;
    const long length = raw_call(SYS_read, file, reinterpret_cast<long>(text), sizeof text - 1);
    raw_call(SYS_close, file);
    if (length <= 0) return;
    text[length] = '\0';
    std::uint64_t as_of_tick = 0;
    static_cast<void>(take_number(take_number(text, as_of_tick), answer.queue_ns));
}

}
