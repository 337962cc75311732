// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Under a limit on addresses (ulimit -v), memory that was freed serves every other size. Each test is a process of its
// own, because a limit cannot be raised again.

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "preloaded.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;

constexpr std::size_t sizes[] = {24, 500, 4000, 30'000, 50'000, 300'000, 2 * mebibyte, 20 * mebibyte, 33 * mebibyte};

/// From now on the system gives no more than `spare` bytes of addresses.
void limit_addresses(std::size_t spare) {
    std::size_t pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) std::_Exit(3);
    std::fclose(file);
    const rlim_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + spare;
    const rlimit limit{bytes, bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(4);
}

/// Takes every block of a size and frees them.
/// Returns   their bytes.
std::size_t take_and_free(std::size_t bytes) {
    void* last = nullptr;
    std::size_t whole = 0;
    while (void* const block = hidden(std::malloc(bytes))) {
        std::memcpy(block, &last, sizeof last);
        last = block;
        whole += bytes;
    }
    while (last != nullptr) {
        void* const block = last;
        std::memcpy(&last, block, sizeof last);
        std::free(block);
    }
    return whole;
}

[[nodiscard]] bool serves(std::size_t bytes) {
    void* const block = hidden(std::malloc(bytes));
    std::free(block);
    return block != nullptr;
}

class address_limit : public testing::Test {
protected:
    address_limit() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        // The C library allocates a block for each thread. Where the heap's own thread starts late, on a slow machine,
        // that block stays in a segment of up to 32 MiB.
        ::setenv("TENURE_HEAP_BACKGROUND", "0", 1);
    }
    ~address_limit() override { ::unsetenv("TENURE_HEAP_BACKGROUND"); }
    void SetUp() override { ASSERT_EQ(file_of("malloc"), dropin_name()); }
};

TEST_F(address_limit, memory_of_one_size_serves_every_other_when_it_is_free) {
    EXPECT_EXIT(
        {
            constexpr std::size_t spare = 120 * mebibyte;
            limit_addresses(spare);
            int failures = 0;
            for (const std::size_t bytes : sizes) {
                const std::size_t taken = take_and_free(bytes);
                // Hardened forms add a guard to each block.
                const std::size_t least = bytes < 100 && is_hardened() ? spare / 4 : spare / 2;
                const bool good = taken >= least && serves(spare - 12 * mebibyte);
                if (!good) std::fprintf(stderr, "%zu: %zu of %zu\n", bytes, taken, spare);
                failures += good ? 0 : 1;
            }
            std::_Exit(failures);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(address_limit, a_block_of_each_kind_that_stays_holds_few_addresses) {
    EXPECT_EXIT(
        {
            constexpr std::size_t spare = 120 * mebibyte;
            limit_addresses(spare);
            (void)hidden(std::malloc(100));
            (void)hidden(std::malloc(20'000));
            (void)hidden(std::malloc(90'000));
            int failures = 0;
            for (const std::size_t bytes : sizes) {
                (void)take_and_free(bytes);
                const bool good = serves(spare - 20 * mebibyte);
                if (!good) std::fprintf(stderr, "after %zu\n", bytes);
                failures += good ? 0 : 1;
            }
            std::_Exit(failures);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(address_limit, memory_of_an_ended_thread_serves_every_other) {
    EXPECT_EXIT(
        {
            constexpr std::size_t spare = 160 * mebibyte;
            limit_addresses(spare);
            int failures = 0;
            for (const std::size_t bytes : sizes) {
                std::thread([bytes] { (void)take_and_free(bytes); }).join();
                const bool good = serves(spare - 40 * mebibyte); // the C library keeps a thread's stack
                if (!good) std::fprintf(stderr, "after %zu\n", bytes);
                failures += good ? 0 : 1;
            }
            std::_Exit(failures);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(address_limit, a_process_starts_with_few_addresses) {
    EXPECT_EXIT(
        {
            limit_addresses(4 * mebibyte);
            std::_Exit(serves(100) && serves(10'000) && serves(100'000) ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

}
