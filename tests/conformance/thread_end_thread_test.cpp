// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What threads leave behind when they end: nothing, also where the system tells nobody of their end, or too early.

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/shared_block_pool.hpp>

#include "support/again.hpp"
#include "support/process.hpp"

namespace {

struct used_allocators {
    tenure::heap own;
    tenure::shared_block_pool blocks{100};
    tenure::affinity_group group{"shared", {.threads = tenure::sharing::any_thread}};

    void use() {
        own.deallocate(own.allocate(100));
        blocks.deallocate(blocks.allocate());
        group.deallocate(group.allocate(100), 100);
        tenure::heap::process().deallocate(tenure::heap::process().allocate(100));
        tenure::deallocate(tenure::allocate(100, tenure::lifetime::temp_job), tenure::lifetime::temp_job);
    }
    [[nodiscard]] bool is_sound() {
        return own.valid() && blocks.valid() && group.valid() && own.stats().live_count == 0 && blocks.size() == 0 &&
               group.size() == 0;
    }
};

std::size_t mapped_bytes() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    if (file != nullptr) std::fclose(file);
    return pages * 4096;
}

/// What 200 threads, one after the other, leave mapped after some have come and gone.
template<class Work>
std::size_t left_by_threads(Work&& work) {
    for (int each = 0; each < 20; ++each) support::on_fresh_thread(work);
    const std::size_t before = mapped_bytes();
    for (int each = 0; each < 200; ++each) support::on_fresh_thread(work);
    const std::size_t after = mapped_bytes();
    return after > before ? after - before : 0;
}

constexpr std::size_t least_leak = std::size_t{200} * 4096; // a page for each thread
constexpr char again[] = "TENURE_TEST_AGAIN";

/// Runs the test in a process of its own, in which the library has none of the system's slots yet and checked builds
/// reserve nothing between pages that fault. Returns   whether this is that process.
bool is_in_own_process() {
    if (std::getenv(again) != nullptr) return true;
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    const support::outcome seen =
        support::run_again({{again, "1"}, {"TENURE_HEAP_GUARD_SAMPLE", "0"}}, "thread_end_of_all." + name);
    EXPECT_EQ(seen.status, 0) << seen.output;
    return false;
}

TEST(thread_end_of_all, threads_leave_nothing_behind_when_the_system_has_no_slot_for_their_end) {
    if (support::under_sanitizer()) GTEST_SKIP() << "a sanitizer's own memory grows";
    if (!is_in_own_process()) return;
    support::on_fresh_thread([] {}); // LLVM's std::thread takes a slot at its first use
    pthread_key_t key{};
    while (::pthread_key_create(&key, nullptr) == 0) {}
    used_allocators all;
    EXPECT_LT(left_by_threads([&] { all.use(); }), least_leak);
    EXPECT_TRUE(all.is_sound());
}

constexpr int last_round = 4; // PTHREAD_DESTRUCTOR_ITERATIONS

struct late_use {
    used_allocators* all;
    pthread_key_t key;
    int rounds;
    static void end(void* given) {
        auto* const late = static_cast<late_use*>(given);
        if (++late->rounds < last_round)
            ::pthread_setspecific(late->key, late);
        else
            late->all->use();
    }
};

// The last round of all is over for the library's own keys, which are older, when the destructor uses it.
TEST(thread_end_of_all, threads_leave_no_more_behind_than_the_next_ones_take) {
    if (support::under_sanitizer()) GTEST_SKIP() << "a sanitizer's own memory grows";
    if (!is_in_own_process()) return;
    used_allocators all;
    support::on_fresh_thread([&] { all.use(); });
    pthread_key_t key{};
    ASSERT_EQ(::pthread_key_create(&key, &late_use::end), 0);
    late_use late{}; // of one thread after the other
    const std::size_t left = left_by_threads([&] {
        late = {&all, key, 0};
        ::pthread_setspecific(key, &late);
    });
    EXPECT_LT(left, least_leak);
    EXPECT_TRUE(all.is_sound());
    ::pthread_key_delete(key);
}

}
