// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// fork() while other threads allocate: both sides go on.

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "preloaded.hpp"

namespace {

constexpr std::size_t large_bytes = 300'000, huge_bytes = std::size_t{40} << 20;

/// Small, large and huge blocks, filled and looked at. Returns   whether all is as it should be.
bool use_malloc(unsigned seed, int count) {
    std::vector<void*> blocks;
    bool good = true;
    for (int i = 0; i < count; ++i) {
        seed = seed * 1'664'525 + 1'013'904'223;
        std::size_t bytes = seed >> 8 & 1023;
        if (i % 50 == 0) bytes = large_bytes;
        if (i == count / 2) bytes = huge_bytes;
        auto* const block = static_cast<unsigned char*>(hidden(std::malloc(bytes + 1)));
        good = good && block != nullptr;
        block[0] = block[bytes] = static_cast<unsigned char>(i);
        blocks.push_back(block);
        if (i % 3 == 0) {
            good = good && *static_cast<unsigned char*>(blocks[static_cast<std::size_t>(i / 2)]) ==
                               static_cast<unsigned char>(i / 2);
        }
    }
    for (void* block : blocks) std::free(block);
    return good;
}

/// Returns   the child's exit code; -1 when it was killed, by its own alarm for one.
int code_of(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

class fork_test : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_FALSE(dropin_name().empty());
        for (unsigned seed = 1; seed <= 3; ++seed) {
            threads.emplace_back([this, seed] {
                for (unsigned turn = 0; !is_over; ++turn) {
                    if (!use_malloc(seed + turn, 300)) ++failures;
                }
            });
        }
    }
    void TearDown() override {
        is_over = true;
        for (std::thread& each : threads) each.join();
        EXPECT_EQ(failures, 0);
    }
    std::atomic<bool> is_over{false};
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
};

TEST_F(fork_test, two_hundred_children_of_a_threaded_program_allocate_free_and_exit) {
    for (int turn = 0; turn < 200; ++turn) {
        void* const inherited = hidden(std::malloc(1000));
        std::memset(inherited, 9, 1000);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::alarm(20);
            bool good = holds_only(inherited, 9, 1000);
            std::free(inherited);
            good = use_malloc(static_cast<unsigned>(turn), 300) && good;
            ::_exit(good ? 0 : 1);
        }
        EXPECT_EQ(code_of(child), 0) << turn;
        EXPECT_TRUE(use_malloc(static_cast<unsigned>(turn), 50));
        std::free(inherited);
    }
}

TEST_F(fork_test, a_child_starts_threads_and_forks_again) {
    for (int turn = 0; turn < 20; ++turn) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::alarm(20);
            std::atomic<int> good{0};
            std::vector<std::thread> own;
            for (unsigned seed = 1; seed <= 3; ++seed) {
                own.emplace_back([&good, seed] { good += use_malloc(seed, 300) ? 1 : 0; });
            }
            const pid_t grandchild = ::fork();
            if (grandchild == 0) {
                ::alarm(20);
                ::_exit(use_malloc(5, 300) ? 0 : 1);
            }
            for (std::thread& each : own) each.join();
            ::_exit(good == 3 && code_of(grandchild) == 0 ? 0 : 1);
        }
        EXPECT_EQ(code_of(child), 0) << turn;
    }
}

TEST_F(fork_test, children_that_exec_are_served) {
    for (int turn = 0; turn < 20; ++turn) EXPECT_EQ(std::system("exit 7") >> 8, 7);
}

TEST_F(fork_test, a_child_leaves_by_exit_and_its_destructors_free) {
    for (int turn = 0; turn < 20; ++turn) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::alarm(20);
            static std::string* kept = nullptr;
            kept = new std::string(5000, 'x');
            std::atexit([] { delete kept; });
            std::exit(0); // NOLINT(concurrency-mt-unsafe): the only thread that there is
        }
        EXPECT_EQ(code_of(child), 0) << turn;
    }
}

/// Reads lines again and again into buffers that grow while the file is locked.
[[noreturn]] void read_lines(std::string& text) {
    for (;;) {
        std::FILE* const file = ::fmemopen(text.data(), text.size(), "r");
        char* line = nullptr;
        std::size_t bytes = 0;
        while (::getline(&line, &bytes, file) > 0) {}
        std::free(line);
        std::fclose(file);
    }
}

// Who reads has a file and allocates; who flushes has the list of files and waits for that one; fork() takes the list.
// After glibc's tst-malloc-fork-deadlock.
TEST(fork_and_files, threads_that_read_lines_and_one_that_flushes_all_files_go_on) {
    ASSERT_FALSE(dropin_name().empty());
    std::string text;
    for (std::size_t length = 1000; length <= 50'000; length += 1000) text += std::string(length, 'x') + '\n';
    const pid_t child = ::fork(); // ends with its threads, which no one stops
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(20);
        for (int each = 0; each < 3; ++each) std::thread{[&text] { read_lines(text); }}.detach();
        for (int each = 0; each < 2; ++each) {
            std::thread{[] {
                for (;;) std::fflush(nullptr);
            }}.detach();
        }
        for (int turn = 0; turn < 100; ++turn) {
            const pid_t grandchild = ::fork();
            if (grandchild == 0) ::_exit(0);
            if (code_of(grandchild) != 0) ::_exit(1);
        }
        ::_exit(0);
    }
    EXPECT_EQ(code_of(child), 0);
}

}
