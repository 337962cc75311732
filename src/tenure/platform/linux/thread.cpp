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

// Not sysconf(): it opens a file.
std::size_t processor_count() noexcept {
    // The kernel rejects a set that is smaller than its own. Linux supports at most 8192 processors.
    cpu_set_t sets[8192 / CPU_SETSIZE];
    for (std::size_t count = 1; count <= std::size(sets); count *= 2) {
        if (::sched_getaffinity(0, count * sizeof sets[0], sets) != 0) continue;
        const int found = CPU_COUNT_S(count * sizeof sets[0], sets);
        return found > 0 ? static_cast<std::size_t>(found) : 1;
    }
    return 1;
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
