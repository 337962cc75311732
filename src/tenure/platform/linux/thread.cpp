// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread.hpp>

#include <sched.h>
#include <unistd.h>
#if __has_include(<sys/single_threaded.h>)
#    include <sys/single_threaded.h>
#    define TENURE_HAS_SINGLE_THREADED 1
#else
#    define TENURE_HAS_SINGLE_THREADED 0
#endif

namespace tenure::inline TENURE_ABI::platform {

std::uint64_t thread_id() noexcept { return static_cast<std::uint64_t>(::gettid()); }

bool is_single_threaded() noexcept {
#if TENURE_HAS_SINGLE_THREADED
    return ::__libc_single_threaded != 0;
#else
    return false;
#endif
}

// Not sysconf(), which opens a file.
std::size_t processor_count() noexcept {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int const count = CPU_COUNT(&set);
    return count > 0 ? static_cast<std::size_t>(count) : 1;
}

}
