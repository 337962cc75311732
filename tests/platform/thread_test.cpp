// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread.hpp>

#include <dlfcn.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include <tenure/platform/posix/c_functions.hpp>

namespace {

// A machine with so many processors, as its kernel would tell of them; zero for the one that the test runs on.
std::size_t processors_told = 0;

}

// In place of the C library's: the library that is linked here finds this one.
extern "C" int sched_getaffinity(pid_t process, std::size_t bytes, cpu_set_t* set) TENURE_C_NOEXCEPT {
    if (processors_told == 0) {
        auto* const next = reinterpret_cast<decltype(&sched_getaffinity)>(::dlsym(RTLD_NEXT, "sched_getaffinity"));
        return next(process, bytes, set);
    }
    if (bytes * 8 < processors_told) {
        errno = EINVAL;
        return -1;
    }
    std::memset(set, 0, bytes);
    for (std::size_t processor = 0; processor < processors_told; ++processor) CPU_SET_S(processor, bytes, set);
    return 0;
}

namespace {

TEST(processor_count, is_that_of_the_processors_that_the_process_may_run_on) {
    processors_told = 0;
    EXPECT_GE(tenure::platform::processor_count(), 1u);
    EXPECT_LE(tenure::platform::processor_count(), std::thread::hardware_concurrency());
}

TEST(processor_count, is_right_on_machines_with_thousands) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{1024}, std::size_t{1025}, std::size_t{8192}}) {
        processors_told = count;
        EXPECT_EQ(tenure::platform::processor_count(), count);
    }
    processors_told = 0;
}

}
