// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread.hpp>

#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<sys/single_threaded.h>)
#    include <sys/single_threaded.h>
#    define TENURE_HAS_SINGLE_THREADED 1
#else
#    define TENURE_HAS_SINGLE_THREADED 0
#endif

#include <cerrno>
#include <iterator>

#include <tenure/base/host.hpp>

namespace tenure::inline TENURE_ABI::platform {

std::uint64_t thread_id() noexcept { return static_cast<std::uint64_t>(::gettid()); }

bool is_single_threaded() noexcept {
#if TENURE_HAS_SINGLE_THREADED
    return ::__libc_single_threaded != 0;
#else
    return false;
#endif
}

// The directory has one link for each thread, and two of its own.
std::size_t thread_count() noexcept {
    const int saved = errno;
    struct stat found {};
    const bool is_found = ::stat("/proc/self/task", &found) == 0;
    errno = saved;
    return is_found && found.st_nlink > 2 ? static_cast<std::size_t>(found.st_nlink - 2) : 0;
}

namespace {

// Linux supports at most 8192 processors.
using processor_sets = cpu_set_t[8192 / CPU_SETSIZE];

/// The processors of a thread; zero: the calling one.
/// Returns   the bytes of the set; zero if the system does not tell.
std::size_t processors_of(pid_t thread, processor_sets& sets) noexcept {
    // The kernel rejects a set that is smaller than its own.
    for (std::size_t count = 1; count <= std::size(sets); count *= 2) {
        if (::sched_getaffinity(thread, count * sizeof sets[0], sets) == 0) return count * sizeof sets[0];
    }
    return 0;
}

}

// Not sysconf(): it opens a file.
std::size_t processor_count() noexcept {
    processor_sets sets;
    const std::size_t bytes = processors_of(0, sets);
    const int found = bytes != 0 ? CPU_COUNT_S(bytes, sets) : 0;
    return found > 0 ? static_cast<std::size_t>(found) : 1;
}

void use_processors_of_main_thread() noexcept {
    processor_sets mine, wanted;
    const std::size_t bytes = processors_of(0, mine);
    if (bytes == 0 || processors_of(::getpid(), wanted) != bytes || CPU_EQUAL_S(bytes, mine, wanted)) return;
    (void)::sched_setaffinity(0, bytes, wanted);
}

}

namespace tenure::inline TENURE_ABI::host {

void let_others_run(unsigned looks_before) noexcept {
    constexpr unsigned offers = 64;
    constexpr timespec pause{0, 50'000};
    const int saved = errno;
    // A raw system call, because nanosleep() is a cancellation point.
    looks_before < offers ? ::sched_yield() : static_cast<int>(::syscall(SYS_nanosleep, &pause, nullptr));
    errno = saved;
}

}
