// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Watchpoints on words of this process.

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <tenure/platform/clock.hpp>

#include "observe/access/watchpoints.hpp"

namespace {

using tenure::lab::watchpoint_error;
using tenure::lab::watchpoints;

alignas(8) volatile std::uint64_t watched_words[4];

[[nodiscard]] std::uint64_t address_of_word(std::size_t index) {
    return reinterpret_cast<std::uint64_t>(&watched_words[index]);
}

class watched_process : public testing::Test {
protected:
    void SetUp() override {
        if (const int number = watchpoints::try_out().error; number != 0)
            GTEST_SKIP() << "this machine has no watchpoints: " << watchpoint_error(number);
        ASSERT_TRUE(points_.find_threads()) << points_.error();
    }

    watchpoints points_{static_cast<std::uint32_t>(::getpid())};
};

TEST_F(watched_process, reads_and_writes_are_reported_with_their_places_and_times) {
    const std::vector<std::uint64_t> places{address_of_word(0), address_of_word(1), address_of_word(3)};
    const std::uint64_t begin_ns = tenure::platform::monotonic_ns();
    points_.watch(places);
    watched_words[0] = 1;
    watched_words[2] = watched_words[3]; // the third is not watched
    watched_words[0] = 2;
    const watchpoints::outcome found = points_.stop();
    const std::uint64_t end_ns = tenure::platform::monotonic_ns();
    watched_words[0] = 3;
    EXPECT_EQ(found.counts[0], 2u);
    EXPECT_EQ(found.counts[1], 0u);
    EXPECT_EQ(found.counts[2], 1u);
    ASSERT_EQ(found.hits.size(), 3u);
    EXPECT_EQ(found.hits[0].which, 0u);
    EXPECT_EQ(found.hits[1].which, 2u);
    EXPECT_EQ(found.hits[2].which, 0u);
    std::uint64_t before_ns = begin_ns;
    for (const tenure::lab::watchpoint_hit& each : found.hits) {
        EXPECT_GE(each.time_ns, before_ns);
        EXPECT_EQ(each.thread, static_cast<std::uint32_t>(::gettid()));
        EXPECT_NE(each.code, 0u);
        before_ns = each.time_ns;
    }
    EXPECT_LE(before_ns, end_ns);
}

TEST_F(watched_process, a_hot_word_is_watched_for_a_few_hits_and_again_in_the_next_window) {
    const std::vector<std::uint64_t> places{address_of_word(0)};
    for (const std::uint32_t times : {1000U, 3U, 1000U, 1000U, 5U}) {
        points_.watch(places);
        for (std::uint32_t time = 0; time < times; ++time) watched_words[0] = 1;
        const watchpoints::outcome found = points_.stop();
        const std::uint32_t expected = std::min(times, std::uint32_t{watchpoints::max_hits});
        EXPECT_EQ(found.counts[0], expected) << times;
        EXPECT_GE(found.hits.size(), expected) << times;
        EXPECT_LE(found.hits.size(), expected + 1U) << "one more may come while it is removed";
    }
}

TEST_F(watched_process, the_kernels_own_accesses_are_not_reported) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "12345678", 8), 8);
    points_.watch(std::vector<std::uint64_t>{address_of_word(0)});
    const ssize_t count = ::read(ends[0], const_cast<std::uint64_t*>(&watched_words[0]), 8);
    const watchpoints::outcome found = points_.stop();
    EXPECT_EQ(count, 8) << "and the call does not fail";
    EXPECT_TRUE(found.hits.empty());
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(watched_process, other_threads_are_found_and_may_end_while_they_are_watched) {
    std::atomic<int> stage{0};
    std::uint32_t id = 0;
    std::thread other([&] {
        id = static_cast<std::uint32_t>(::gettid());
        stage = 1;
        while (stage != 2) {}
        watched_words[1] = 1;
    });
    while (stage != 1) {}
    ASSERT_TRUE(points_.find_threads());
    points_.watch(std::vector<std::uint64_t>{address_of_word(1)});
    stage = 2;
    other.join();
    watched_words[1] = 2;
    const watchpoints::outcome found = points_.stop();
    EXPECT_EQ(found.counts[0], 2u);
    ASSERT_EQ(found.hits.size(), 2u);
    EXPECT_EQ(found.hits[0].thread, id);
    ASSERT_TRUE(points_.find_threads());
    points_.watch(std::vector<std::uint64_t>{address_of_word(1)});
    watched_words[1] = 3;
    EXPECT_EQ(points_.stop().counts[0], 1u);
}

TEST(watchpoint_errors, say_what_to_do) {
    EXPECT_NE(watchpoint_error(EACCES).find("kernel.perf_event_paranoid=2"), std::string::npos);
    EXPECT_NE(watchpoint_error(ENOSPC).find("debugger"), std::string::npos);
    EXPECT_NE(watchpoint_error(ENODEV).find("virtual machines"), std::string::npos);
    EXPECT_NE(watchpoint_error(EMFILE).find("ulimit -n"), std::string::npos);
    EXPECT_NE(watchpoint_error(watchpoints::out_of_locked_memory).find("kernel.perf_event_mlock_kb"),
              std::string::npos);
    EXPECT_NE(watchpoint_error(EINVAL).find("Linux 5.13"), std::string::npos);
}

TEST(watchpoints_of_nothing, without_descriptors_the_process_has_not_ended) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{3, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    watchpoints points(static_cast<std::uint32_t>(::getpid()));
    const bool has_threads = points.find_threads();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(has_threads);
    EXPECT_EQ(points.error(), EMFILE);
}

/// Maps rings of events that count nothing until the system refuses the smallest one.
void take_locked_memory() {
    perf_event_attr nothing{};
    nothing.type = PERF_TYPE_SOFTWARE;
    nothing.size = sizeof nothing;
    nothing.config = PERF_COUNT_SW_DUMMY;
    nothing.exclude_kernel = 1;
    for (std::size_t pages = 128; pages != 0;) {
        const auto event = static_cast<int>(::syscall(SYS_perf_event_open, &nothing, 0, -1, -1, 0));
        if (event < 0) return;
        if (::mmap(nullptr, (pages + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0) == MAP_FAILED) pages /= 2;
    }
}

TEST_F(watched_process, without_locked_memory_says_so) {
    // A user without rights, as whom the limits count, with a kernel that counts them.
    const pid_t child = ::fork();
    if (child == 0) {
        constexpr uid_t nobody = 65534;
        const rlimit none{0, 0};
        if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0) ::_exit(10);
        if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) ::_exit(10);
        ::prctl(PR_SET_DUMPABLE, 1); // it may watch itself
        take_locked_memory();
        watchpoints points(static_cast<std::uint32_t>(::getpid()));
        if (points.find_threads()) ::_exit(12);
        ::_exit(points.error() == watchpoints::out_of_locked_memory ? 0 : 11);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(watchpoints_of_nothing, a_process_that_is_gone_has_no_threads_and_no_error) {
    watchpoints points(0x7FFF'FFFF);
    EXPECT_FALSE(points.find_threads());
    EXPECT_EQ(points.error(), 0);
}

}
