// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/platform/clock.hpp>

#include "support/process.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using support::millisecond;
using tenure::heap;

void let_time_pass(std::uint64_t time_ns) {
    const std::uint64_t end = tenure::platform::monotonic_ns() + time_ns;
    while (tenure::platform::monotonic_ns() < end) tenure::platform::sleep_ns(millisecond);
}

/// Uses 60 MiB of each kind of block and frees all of it.
void use_and_free(heap& tested) {
    std::vector<void*> blocks;
    for (const std::size_t bytes : {std::size_t{200}, std::size_t{20'000}, mebibyte, 60 * mebibyte}) {
        for (std::size_t used = 0; used < 60 * mebibyte; used += bytes) {
            blocks.push_back(tested.allocate(bytes));
            std::memset(blocks.back(), 1, bytes);
        }
    }
    for (void* const block : blocks) tested.deallocate(block);
}

TEST(heap_purge, freed_memory_goes_back_at_a_slow_call_after_its_time) {
    heap tested({.purge_delay_ns = 30 * millisecond});
    use_and_free(tested);
    std::size_t resident = 0;
    for (int round = 0; round < 100; ++round) { // three are enough, on a machine that has time
        let_time_pass(20 * millisecond);
        tested.deallocate(tested.allocate(100'000));
        resident = tested.usage().resident_bytes;
        if (resident < 20 * mebibyte) break;
    }
    EXPECT_LT(resident, 20 * mebibyte);
    EXPECT_EQ(tested.usage().retained_bytes, 0u);
}

TEST(heap_purge, before_its_time_it_is_there_for_the_next_request) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds give huge blocks back at once";
    heap tested({.purge_delay_ns = 3'600'000 * millisecond});
    use_and_free(tested);
    const std::size_t resident = tested.usage().resident_bytes;
    EXPECT_GT(resident, 200 * mebibyte);
    use_and_free(tested);
    EXPECT_LT(tested.usage().resident_bytes, resident + resident / 10);
    EXPECT_GE(tested.usage().retained_bytes, 60 * mebibyte);
    tested.trim();
    EXPECT_EQ(tested.usage().retained_bytes, 0u);
    EXPECT_LT(tested.usage().resident_bytes, mebibyte);
}

TEST(heap_purge, trim_gives_back_what_lies_between_blocks_in_use) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep what is in freed blocks";
    heap tested;
    std::vector<unsigned char*> blocks;
    for (int each = 0; each < 400'000; ++each) {
        blocks.push_back(static_cast<unsigned char*>(tested.allocate(100)));
        std::memset(blocks.back(), each % 251, 100);
    }
    std::vector<int> kept;
    for (int each = 0; each < 400'000; ++each) {
        each % 500 == 0 ? kept.push_back(each) : tested.deallocate(blocks[static_cast<std::size_t>(each)]);
    }
    EXPECT_GT(tested.usage().resident_bytes, 40 * mebibyte);
    EXPECT_GT(tested.trim(), 30 * mebibyte);
    EXPECT_LT(tested.usage().resident_bytes, 6 * mebibyte);
    for (const int each : kept) {
        for (int at = 0; at < 100; ++at) ASSERT_EQ(blocks[static_cast<std::size_t>(each)][at], each % 251);
        tested.deallocate(blocks[static_cast<std::size_t>(each)]);
    }
    tested.trim();
    EXPECT_EQ(tested.usage().committed_bytes, 0u);
}

// In a process of its own, because the process heap reads its options at its first call.
int give_back_in_the_background() {
    tenure::set_option(tenure::option::heap_background, 1);
    tenure::set_option(tenure::option::heap_purge_delay_ms, 30);
    heap& process = heap::process();
    heap other({.purge_delay_ns = 30 * millisecond});
    use_and_free(process);
    use_and_free(other);
    for (int round = 0; round < 1000; ++round) { // nobody calls a heap meanwhile
        let_time_pass(5 * millisecond);
        if (process.usage().resident_bytes < 20 * mebibyte && other.usage().resident_bytes < 20 * mebibyte) return 0;
    }
    return 1;
}

TEST(heap_purge, a_background_thread_gives_back_when_asked_for_also_in_a_forked_child) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizers take no threads along into a fork";
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int failed = give_back_in_the_background();
        const pid_t grandchild = ::fork();
        if (grandchild == 0) std::_Exit(give_back_in_the_background());
        int status = 0;
        ::waitpid(grandchild, &status, 0);
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0 ? 2 : 0;
        std::_Exit(failed);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}
