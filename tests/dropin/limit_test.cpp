// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// TENURE_HEAP_LIMIT: requests past it fail, and the first one says who holds what.

#include <gtest/gtest.h>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "preloaded.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;

constexpr std::size_t most_blocks = 100'000;
void* blocks[most_blocks];

/// Allocates until a request fails, or the blocks have so many bytes. Returns   how many blocks there are.
std::size_t allocate_until_refused(std::size_t bytes, std::size_t at_most) {
    std::size_t count = 0;
    while (count < most_blocks && count * bytes < at_most) {
        void* const block = hidden(std::malloc(bytes));
        if (block == nullptr) break;
        std::memset(block, 1, bytes);
        blocks[count++] = block;
    }
    return count;
}

void free_blocks(std::size_t count) {
    while (count != 0) std::free(blocks[--count]);
}

void end_if_not(bool holds, int code) {
    if (!holds) std::_Exit(code);
}

class heap_limit : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_FALSE(dropin_name().empty());
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        ::setenv("TENURE_HEAP_LIMIT", "64M", 1); // of the process that is started for each test
    }
    void TearDown() override {
        ::unsetenv("TENURE_HEAP_LIMIT");
        ::unsetenv("TENURE_MALLOC_STATS");
    }
};

TEST_F(heap_limit, requests_past_it_fail_and_the_first_says_who_holds_what) {
    EXPECT_EXIT(
        {
            errno = 0;
            const std::size_t count = allocate_until_refused(1000, 100 * mebibyte);
            end_if_not(errno == ENOMEM, 2);
            end_if_not(count * 1000 > 50 * mebibyte && count * 1000 <= 64 * mebibyte, 3);
            end_if_not(hidden(std::malloc(100'000)) == nullptr, 4);
            free_blocks(count);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0),
        "^tenure: dropin_test \\[[0-9]+\\]: a request of 1000 bytes was refused, because the process heap has [0-9]+ "
        "of at "
        "most 67108864 bytes in use [^\n]*\n(.*\n)*  blocks of 1[0-9]+: 6[0-9]+ in use(.*\n)*$");
}

// A page of blocks past 4 KiB takes up to 256 KiB: a single block must not need that much.
TEST_F(heap_limit, what_is_left_serves_blocks_whose_pages_would_exceed_it) {
    EXPECT_EXIT(
        {
            void* large[630];
            for (void*& block : large) block = hidden(std::malloc(100'000));
            const std::size_t count = allocate_until_refused(20'000, mebibyte * 2);
            const bool is_refused = hidden(std::malloc(33'000)) == nullptr;
            free_blocks(count);
            end_if_not(is_refused, 2); // nothing of that size was left either
            for (void* const block : large) std::free(block);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^tenure: dropin_test \\[[0-9]+\\]: a request of [0-9]+ bytes was refused");
}

TEST_F(heap_limit, the_report_is_one_object_if_statistics_are) {
    ::setenv("TENURE_MALLOC_STATS", "json", 1);
    EXPECT_EXIT(
        {
            end_if_not(hidden(std::malloc(65 * mebibyte)) == nullptr, 2);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0),
        "^\\{\"allocator\":\"tenure\",\"event\":\"refused\",\"program\":\"dropin_test\",\"pid\":[0-9]+,\"request_"
        "bytes\":"
        "68157440,\"limit_bytes\":67108864,\"tags\":\\[\\],\"heap\":\\{.*\"sizes\": \\[.*\\]\\}\\}\n$");
}

TEST_F(heap_limit, what_is_freed_serves_blocks_of_other_sizes) {
    EXPECT_EXIT(
        {
            for (int turn = 0; turn < 3; ++turn) {
                for (std::size_t bytes = 1000; bytes < 40 * mebibyte; bytes *= 3) {
                    const std::size_t count = allocate_until_refused(bytes, 40 * mebibyte);
                    end_if_not(count * bytes >= 40 * mebibyte, 2);
                    free_blocks(count);
                }
            }
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^$");
}

// Without the early return of free memory, all sizes together would stay resident until the purge delay is over.
TEST_F(heap_limit, free_memory_does_not_come_on_top) {
    EXPECT_EXIT(
        {
            const std::size_t before = resident_bytes();
            for (std::size_t bytes = 1000; bytes < 40 * mebibyte; bytes *= 3) {
                free_blocks(allocate_until_refused(bytes, 40 * mebibyte));
                end_if_not(resident_bytes() < before + 64 * mebibyte + 12 * mebibyte, 2);
            }
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(heap_limit, a_refused_realloc_leaves_the_block) {
    EXPECT_EXIT(
        {
            for (const std::size_t bytes : {std::size_t{100}, mebibyte, 40 * mebibyte}) {
                void* const block = hidden(std::malloc(bytes));
                std::memset(block, 7, bytes);
                end_if_not(hidden(std::realloc(hidden(block), 65 * mebibyte)) == nullptr, 2);
                end_if_not(errno == ENOMEM && holds_only(block, 7, bytes), 3);
                std::free(block);
            }
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "68157440 bytes was refused");
}

TEST_F(heap_limit, the_report_to_a_pipe_that_nobody_reads_ends_no_program) {
    EXPECT_EXIT(
        {
            int ends[2];
            end_if_not(::pipe(ends) == 0 && ::dup2(ends[1], STDERR_FILENO) >= 0, 2);
            ::close(ends[0]);
            ::close(ends[1]);
            ::execl("/proc/self/exe", "dropin_test", "--gtest_filter=heap_limit_program.is_refused", nullptr);
        },
        testing::ExitedWithCode(0), "");
}

// Started by the test above, with a standard error that nobody reads.
TEST(heap_limit_program, is_refused) {
    if (std::getenv("TENURE_HEAP_LIMIT") == nullptr) GTEST_SKIP() << "asked in processes of their own";
    EXPECT_EQ(hidden(std::malloc(65 * mebibyte)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
}

TEST_F(heap_limit, the_report_goes_to_no_file_that_the_program_opened_since) {
    EXPECT_EXIT(
        {
            const int file = ::memfd_create("the program's own", 0);
            end_if_not(file >= 0 && ::dup2(file, STDERR_FILENO) >= 0, 2);
            end_if_not(hidden(std::malloc(65 * mebibyte)) == nullptr, 3);
            struct stat found {};
            end_if_not(::fstat(file, &found) == 0 && found.st_size == 0, 4);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "68157440 bytes was refused");
}

TEST_F(heap_limit, operator_new_throws) {
    EXPECT_EXIT(
        {
            try {
                static_cast<void>(hidden(::operator new(65 * mebibyte)));
            } catch (const std::bad_alloc&) {
                std::_Exit(0);
            }
        },
        testing::ExitedWithCode(0), "68157440 bytes was refused");
}

}
