// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The heap profile of a program that knows nothing of it: the files at the end, on a signal and at intervals.

#include <gtest/gtest.h>

#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "preloaded.hpp"
#include "support/heap_profile_file.hpp"
#include "support/temporary_folder.hpp"

namespace {

using support::heap_profile_file;
namespace format = tenure::profile_format;

/// A folder of its own for each test, and each block recorded.
class dropin_profiles : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_FALSE(dropin_name().empty());
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        const char* const inherited = std::getenv("TENURE_PROFILE_DIR"); // of a death test's own process
        if (inherited != nullptr) {
            folder_ = inherited;
            return;
        }
        folder_ = own_.emplace().path();
        ::setenv("TENURE_PROFILE_DIR", folder_.c_str(), 1);
        ::setenv("TENURE_PROFILE_SAMPLE", "1", 1);
    }
    void TearDown() override {
        for (const char* const name : {"", "_DIR", "_SAMPLE", "_EVERY_MS", "_AT_PEAK", "_SIGNAL"})
            ::unsetenv((std::string("TENURE_PROFILE") + name).c_str());
    }
    /// The files of the folder whose name has this part; all are whole. A killed program may leave one that has no name
    /// of a profile yet.
    [[nodiscard]] std::vector<heap_profile_file> files(const std::string& part, bool is_killed = false) const {
        std::vector<heap_profile_file> found;
        for (const auto& each : std::filesystem::directory_iterator(folder_)) {
            const std::string name = each.path().filename();
            if (is_killed && name.ends_with(".part")) continue;
            EXPECT_TRUE(name.ends_with(".heapprofile")) << name;
            if (name.find(part) == std::string::npos) continue;
            found.emplace_back();
            support::read_heap_profile(each.path(), found.back());
        }
        return found;
    }
    /// Live blocks of at least this size.
    static std::size_t live_of(const heap_profile_file& file, std::uint64_t bytes) {
        std::size_t count = 0;
        for (const auto& each : file.live) count += each.asked_bytes == bytes;
        return count;
    }

private:
    std::optional<support::temporary_folder> own_;
    std::string folder_;
};

constexpr std::size_t telling_bytes = 123'457; // that nobody else allocates

void leak_some(int count) {
    for (int each = 0; each < count; ++each) static_cast<void>(hidden(std::malloc(telling_bytes)));
}

TEST_F(dropin_profiles, is_saved_when_the_program_ends) {
    ::setenv("TENURE_PROFILE", "1", 1);
    EXPECT_EXIT(
        {
            leak_some(7);
            std::free(hidden(std::malloc(telling_bytes)));
            std::thread([] { leak_some(2); }).join();
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
    const auto found = files(".exit.");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(live_of(found[0], telling_bytes), 9u);
    EXPECT_EQ(found[0].header.written_at, format::occasion::exit);
    EXPECT_EQ(found[0].header.mean_bytes, 1u);
}

TEST_F(dropin_profiles, is_saved_on_a_signal_and_started_by_the_first) {
    ::setenv("TENURE_PROFILE_SIGNAL", std::to_string(SIGUSR2).c_str(), 1);
    EXPECT_EXIT(
        {
            leak_some(3); // before the start: unknown
            ::raise(SIGUSR2);
            leak_some(5);
            ::raise(SIGUSR2);
            std::_Exit(0); // nothing is saved at such an end, and nothing is lost
        },
        testing::ExitedWithCode(0), "");
    EXPECT_EQ(files(".exit.").size(), 0u);
    const auto first = files(".0001."), second = files(".0002.");
    ASSERT_EQ(first.size(), 1u);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(live_of(first[0], telling_bytes), 0u);
    EXPECT_EQ(live_of(second[0], telling_bytes), 5u);
    EXPECT_EQ(second[0].header.written_at, format::occasion::signal);
}

TEST_F(dropin_profiles, a_signal_that_interrupts_an_allocation_is_served_by_a_later_one) {
    ::setenv("TENURE_PROFILE_SIGNAL", std::to_string(SIGUSR2).c_str(), 1);
    EXPECT_EXIT(
        {
            ::alarm(60); // when it hangs
            std::thread other([] {
                for (int each = 0; each < 20; ++each) {
                    ::kill(::getpid(), SIGUSR2);
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
            });
            for (int each = 0; each < 50'000; ++each) std::free(hidden(std::malloc(100'000)));
            other.join();
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
    EXPECT_GE(files("").size(), 1u);
}

TEST_F(dropin_profiles, is_saved_at_intervals_and_survives_a_kill) {
    ::setenv("TENURE_PROFILE", "1", 1);
    ::setenv("TENURE_PROFILE_EVERY_MS", "20", 1);
    EXPECT_EXIT(
        {
            leak_some(4);
            for (int each = 0; each < 30; ++each) {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                std::free(hidden(std::malloc(1000)));
            }
            ::kill(::getpid(), SIGKILL);
        },
        testing::KilledBySignal(SIGKILL), "");
    // The first ones may be from before the blocks.
    std::size_t most = 0;
    for (const heap_profile_file& each : files("", true)) {
        EXPECT_EQ(each.header.written_at, format::occasion::interval);
        most = std::max(most, live_of(each, telling_bytes));
    }
    EXPECT_EQ(most, 4u);
}

// By the background thread. The program waits for its file with calls that allocate nothing; if none comes, it is
// killed by the alarm.
TEST_F(dropin_profiles, is_saved_at_intervals_while_nothing_is_allocated) {
    ::setenv("TENURE_PROFILE", "1", 1);
    ::setenv("TENURE_PROFILE_EVERY_MS", "300", 1);
    const std::string name = std::string(std::getenv("TENURE_PROFILE_DIR")) + "/dropin_test.";
    EXPECT_EXIT(
        {
            ::alarm(60);
            leak_some(4);
            char path[4096];
            std::snprintf(path, sizeof path, "%s%d.0001.heapprofile", name.c_str(), static_cast<int>(::getpid()));
            while (::access(path, F_OK) != 0) ::usleep(10'000);
            ::usleep(1'500'000); // longer than intervals and looks: nothing has changed
            ::kill(::getpid(), SIGKILL);
        },
        testing::KilledBySignal(SIGKILL), "");
    const auto found = files("", true);
    ASSERT_EQ(found.size(), 1u) << "one that says the same would be of no use";
    EXPECT_EQ(live_of(found[0], telling_bytes), 4u);
    EXPECT_EQ(found[0].header.written_at, format::occasion::interval);
}

// Also when the program is killed later.
TEST_F(dropin_profiles, is_saved_at_the_peak) {
    ::setenv("TENURE_PROFILE", "1", 1);
    ::setenv("TENURE_PROFILE_AT_PEAK", "1", 1);
    EXPECT_EXIT(
        {
            constexpr std::size_t count = 200;
            static void* held[count];
            for (void*& each : held) {
                each = hidden(std::malloc(telling_bytes));
                std::this_thread::sleep_for(std::chrono::milliseconds(1)); // saving takes a tenth of the time at most
            }
            for (void* const each : held) std::free(each);
            leak_some(20); // far below
            ::kill(::getpid(), SIGKILL);
        },
        testing::KilledBySignal(SIGKILL), "");
    const auto found = files("", true);
    ASSERT_EQ(found.size(), 1u) << "each replaces the one before";
    EXPECT_EQ(files(".peak.", true).size(), 1u);
    EXPECT_EQ(found[0].header.written_at, format::occasion::peak);
    EXPECT_GT(live_of(found[0], telling_bytes), 100u);
}

// Programs read, keep and restore what a signal did before: a handler of the library's would be in their way.
TEST_F(dropin_profiles, no_signal_is_handled_that_nobody_has_named) {
    ::setenv("TENURE_PROFILE", "1", 1);
    EXPECT_EXIT(
        {
            int handled = 0;
            for (int number = 1; number < 65; ++number) {
                struct sigaction present {};
                const bool is_known = ::sigaction(number, nullptr, &present) == 0;
                const bool is_for_faults = number == SIGSEGV || number == SIGBUS; // of guarded blocks
                if (is_known && !is_for_faults && present.sa_handler != SIG_DFL && present.sa_handler != SIG_IGN)
                    ++handled;
            }
            std::exit(handled);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(dropin_profiles, the_child_of_a_fork_saves_its_own) {
    ::setenv("TENURE_PROFILE", "1", 1);
    EXPECT_EXIT(
        {
            leak_some(2);
            const pid_t child = ::fork();
            leak_some(child == 0 ? 3 : 1);
            if (child != 0) ::waitpid(child, nullptr, 0);
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
    auto found = files(".exit.");
    ASSERT_EQ(found.size(), 2u);
    if (live_of(found[0], telling_bytes) > live_of(found[1], telling_bytes)) std::swap(found[0], found[1]);
    EXPECT_EQ(live_of(found[0], telling_bytes), 3u);
    EXPECT_EQ(live_of(found[1], telling_bytes), 5u);
    EXPECT_NE(found[0].header.process, found[1].header.process);
}

/// Whether blocks of all small sizes stay where they fit, move where they do not, and keep their contents.
bool reallocates() {
    constexpr std::size_t most = 40'000;
    bool is_right = true;
    const auto has = [](const char* block, char letter, std::size_t bytes) {
        return std::all_of(block, block + bytes, [letter](char each) { return each == letter; });
    };
    for (std::size_t bytes = 8; bytes < most; bytes += 1 + bytes / 7) {
        auto* block = static_cast<char*>(std::malloc(bytes));
        std::memset(block, 'a', bytes);
        const std::size_t room = ::malloc_usable_size(block);
        is_right = is_right && std::realloc(block, room) == block && std::realloc(block, room / 2 + 1) == block;
        block = static_cast<char*>(std::realloc(block, room + 1));
        const std::size_t larger = ::malloc_usable_size(block);
        is_right = is_right && larger > room && has(block, 'a', std::min(bytes, room / 2 + 1));
        std::memset(block, 'b', larger);
        block = static_cast<char*>(std::realloc(block, bytes / 4 + 1));
        is_right = is_right && has(block, 'b', bytes / 4 + 1) && ::malloc_usable_size(block) < larger;
        std::free(block);
    }
    return is_right;
}

TEST_F(dropin_profiles, blocks_are_resized_as_without_a_profile) {
    EXPECT_TRUE(reallocates());
    for (const char* const sample : {"1", "4096", "1073741824"}) {
        ::setenv("TENURE_PROFILE", "1", 1);
        ::setenv("TENURE_PROFILE_SAMPLE", sample, 1);
        EXPECT_EXIT(std::exit(reallocates() ? 0 : 1), testing::ExitedWithCode(0), "") << sample;
        EXPECT_FALSE(files(".exit.").empty()) << sample;
    }
}

TEST_F(dropin_profiles, a_resized_block_is_recorded_with_its_latest_size) {
    ::setenv("TENURE_PROFILE", "1", 1);
    constexpr std::size_t before = 3001, now = 7001;
    EXPECT_EXIT(
        {
            for (int count = 0; count < 4; ++count) {
                void* block = std::malloc(before);
                if (count % 2 == 0) block = std::realloc(block, now);
                if (block == nullptr) std::exit(1);
            }
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
    const std::vector<heap_profile_file> found = files(".exit.");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(live_of(found[0], before), 2u);
    EXPECT_EQ(live_of(found[0], now), 2u);
}

// The background thread saves too, and must not read the environment while the program changes it.
TEST_F(dropin_profiles, the_folder_is_the_one_of_the_begin) {
    ::setenv("TENURE_PROFILE", "1", 1);
    EXPECT_EXIT(
        {
            ::setenv("TENURE_PROFILE_DIR", "/no such folder", 1);
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
    EXPECT_EQ(files(".exit.").size(), 1u);
}

TEST_F(dropin_profiles, a_folder_that_is_not_there_is_named) {
    ::setenv("TENURE_PROFILE", "1", 1);
    const std::string before = std::getenv("TENURE_PROFILE_DIR");
    ::setenv("TENURE_PROFILE_DIR", "/no such folder", 1);
    EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0),
                "/no such folder/.* could not be written.*TENURE_PROFILE_DIR");
    ::setenv("TENURE_PROFILE_AT_PEAK", "1", 1);
    EXPECT_EXIT(
        {
            leak_some(100);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^[^\n]*peak.heapprofile could not be written[^\n]*\n$")
        << "said once";
    ::setenv("TENURE_PROFILE_DIR", before.c_str(), 1);
}

}
