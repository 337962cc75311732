// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/purge/background.hpp>

#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/symbol.hpp>

#include "support/process.hpp"
#include "support/random.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using support::millisecond;
using tenure::heap;

constexpr std::uint64_t short_delay = 20 * millisecond;

/// Waits until the condition holds, for at most ten seconds.
template<class Condition>
bool comes_true(Condition&& condition) {
    for (int each = 0; each < 2000; ++each) {
        if (condition()) return true;
        tenure::platform::sleep_ns(5 * millisecond);
    }
    return condition();
}

/// Blocks of 512, 1024 and 2048 bytes, of which one in twenty stays.
std::vector<unsigned char*> leave_holes(heap& tested) {
    support::random numbers(support::new_seed());
    std::vector<unsigned char*> blocks, kept;
    for (int each = 0; each < 40'000; ++each) {
        const std::size_t bytes = std::size_t{512} << numbers.below(3);
        blocks.push_back(static_cast<unsigned char*>(tested.allocate(bytes)));
        std::memset(blocks.back(), 7, bytes);
    }
    for (std::size_t left = blocks.size(); left != 0; --left) {
        const std::size_t which = numbers.below(left);
        numbers.below(20) == 0 ? kept.push_back(blocks[which]) : tested.deallocate(blocks[which]);
        blocks[which] = blocks[left - 1];
    }
    return kept;
}

/// As in a process that has freed nothing: what other tests have freed would count, now or when pages are left.
void forget_freed() {
    heap::process().trim();
    tenure::detail::visit_cores([](void*, tenure::detail::heap_core& core) noexcept { core.forget_freed(); }, nullptr);
    tenure::detail::background.store(tenure::detail::background_state::none);
}

/// In a child process: its process heap has read no option yet. Returns   what `work` returns.
template<class Work>
int in_child(Work&& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        forget_freed();
        tenure::set_option(tenure::option::heap_purge_delay_ms, 40);
        const std::vector<char> resident(8 * mebibyte, 1); // a smaller process starts no thread
        std::_Exit(resident[1] == 1 ? work() : 1000);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

/// Frees 16 MB during a promise. Returns   0 if the thread was wanted, not started, and started by a later call.
template<class Promise>
int free_during() {
    heap& process = heap::process();
    std::vector<void*> blocks;
    for (int each = 0; each < 400; ++each) blocks.push_back(process.allocate(40'000));
    {
        const Promise promise;
        for (void* const block : blocks) process.deallocate(block);
        if (tenure::detail::is_background_running()) return 1;
        if (!tenure::detail::is_background_wanted()) return 2;
    }
    process.deallocate(process.allocate(40'000));
    return tenure::detail::is_background_running() ? 0 : 3;
}

bool is_mostly_returned(const heap& tested, std::size_t peak) { return tested.usage().resident_bytes < peak / 4; }

TEST(heap_background, holes_between_blocks_in_use_go_back_while_nobody_calls) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep what is in freed blocks";
    heap tested({.purge_delay_ns = short_delay});
    std::vector<unsigned char*> kept;
    std::size_t peak = 0;
    std::thread([&] {
        kept = leave_holes(tested);
        peak = tested.usage().resident_bytes;
    }).join(); // the thread that freed them has ended
    EXPECT_TRUE(comes_true([&] { return is_mostly_returned(tested, peak); }));
    for (unsigned char* const block : kept) {
        ASSERT_EQ(block[0] + block[511], 14);
        tested.deallocate(block);
    }
    EXPECT_TRUE(tested.valid());
}

TEST(heap_background, the_thread_ends_when_there_is_nothing_to_do_and_comes_back) {
    heap tested({.purge_delay_ns = short_delay});
    for (int each = 0; each < 2; ++each) {
        for (unsigned char* const block : leave_holes(tested)) tested.deallocate(block);
        EXPECT_TRUE(comes_true([] { return tenure::detail::is_background_running(); }));
        EXPECT_TRUE(comes_true([] { return !tenure::detail::is_background_running(); }));
        // Checked builds keep whole pages of which the thread's cache and quarantine hold one block, here of 3 sizes.
        EXPECT_LT(tested.usage().resident_bytes, (tenure::checks::caller ? 24 : 4) * mebibyte);
    }
}

TEST(heap_background, a_source_for_one_thread_is_left_to_its_callers) {
    class strict_source final : public tenure::block_source {
    public:
        void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
            return pages_.acquire(bytes, alignment);
        }
        void release(void* block, std::size_t bytes) noexcept override {
            check();
            pages_.release(block, bytes);
        }
        bool decommit(void* part, std::size_t bytes) noexcept override {
            check();
            return pages_.decommit(part, bytes);
        }
        [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::one_thread; }
        int strangers = 0;

    private:
        void check() noexcept { strangers += owner_ != std::this_thread::get_id() ? 1 : 0; }
        tenure::page_source& pages_ = tenure::page_source::process();
        std::thread::id owner_ = std::this_thread::get_id();
    } source;
    {
        heap tested({.purge_delay_ns = short_delay}, source);
        for (unsigned char* const block : leave_holes(tested)) tested.deallocate(block);
        tenure::platform::sleep_ns(10 * short_delay);
    }
    EXPECT_EQ(source.strangers, 0);
}

TEST(heap_background, nothing_is_started_for_little_memory_or_without_the_option) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizers take no threads along into a fork";
    EXPECT_EQ(in_child([] {
                  heap& process = heap::process();
                  for (int each = 0; each < 500; ++each) process.deallocate(process.allocate(40'000));
                  std::vector<void*> blocks;
                  for (int each = 0; each < 3000; ++each) blocks.push_back(process.allocate(1000));
                  for (void* const block : blocks) process.deallocate(block);
                  return tenure::detail::is_background_running() ? 1 : 0;
              }),
              1)
        << "40 000 bytes that are freed 500 times are worth a look";
    EXPECT_EQ(in_child([] {
                  heap& process = heap::process();
                  std::vector<void*> blocks;
                  for (int each = 0; each < 1000; ++each) blocks.push_back(process.allocate(1000));
                  for (void* const block : blocks) process.deallocate(block);
                  tenure::platform::sleep_ns(100 * millisecond);
                  process.deallocate(process.allocate(40'000));
                  return tenure::detail::is_background_running() ? 1 : 0;
              }),
              0);
    EXPECT_EQ(in_child([] {
                  tenure::set_option(tenure::option::heap_background, 0);
                  leave_holes(heap::process());
                  tenure::platform::sleep_ns(100 * millisecond);
                  return tenure::detail::is_background_running() ? 1 : 0;
              }),
              0);
}

TEST(heap_background, nothing_is_started_under_a_promise) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizers take no threads along into a fork";
    EXPECT_EQ(in_child([] { return free_during<tenure::no_alloc_scope>(); }), 0);
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds report a free in a no_wait_scope";
    EXPECT_EQ(in_child([] { return free_during<tenure::no_wait_scope>(); }), 0);
}

TEST(heap_background, a_heap_may_be_destroyed_while_it_is_swept) {
    for (int each = 0; each < 30; each += support::under_sanitizer() ? 3 : 1) {
        heap tested({.purge_delay_ns = millisecond});
        const std::vector<unsigned char*> kept = leave_holes(tested);
        tenure::platform::sleep_ns(static_cast<std::uint64_t>(each) * millisecond);
        if (each % 2 == 0) {
            for (unsigned char* const block : kept) tested.deallocate(block);
        } else {
            tested.clear();
        }
    }
}

TEST(heap_background, threads_and_sweeps_leave_every_block_whole) {
    heap tested({.purge_delay_ns = 20 * millisecond});
    std::atomic<int> wrong{0};
    std::mutex lock;
    std::vector<unsigned char*> shared; // freed by another thread; the first eight bytes are the size
    const auto work = [&](std::uint64_t seed) {
        support::random numbers(seed);
        std::vector<unsigned char*> mine;
        const auto drop = [&](unsigned char* block) {
            std::size_t bytes = 0;
            std::memcpy(&bytes, block, sizeof bytes);
            wrong += block[bytes - 1] != static_cast<unsigned char>(bytes) ? 1 : 0;
            tested.deallocate(block);
        };
        const int steps = support::under_sanitizer() || tenure::checks::caller ? 30'000 : 600'000;
        for (int step = 0; step < steps; ++step) {
            if (numbers.below(20'000) == 0) { // a pause, in which sweeps find what is free
                while (!mine.empty()) {
                    if (numbers.below(20) != 0)
                        drop(mine.back());
                    else {
                        const std::lock_guard hold(lock);
                        shared.push_back(mine.back());
                    }
                    mine.pop_back();
                }
                tenure::platform::sleep_ns(25 * millisecond);
            }
            const std::size_t bytes = 9 + numbers.below(numbers.below(200) == 0 ? 200'000 : 3000);
            auto* const block = static_cast<unsigned char*>(tested.allocate(bytes));
            std::memcpy(block, &bytes, sizeof bytes);
            block[bytes - 1] = static_cast<unsigned char>(bytes);
            mine.push_back(block);
            if (numbers.below(100) < 45) {
                std::swap(mine[numbers.below(mine.size())], mine.back());
                drop(mine.back());
                mine.pop_back();
            }
            if (mine.size() > 20'000) {
                const std::lock_guard hold(lock);
                for (; mine.size() > 10'000; mine.pop_back()) shared.push_back(mine.back());
            }
            if (step % 1000 == 0) {
                std::vector<unsigned char*> others;
                {
                    const std::lock_guard hold(lock);
                    others.swap(shared);
                }
                for (unsigned char* const each : others) drop(each);
            }
        }
        for (unsigned char* const block : mine) drop(block);
    };
    std::vector<std::thread> threads;
    for (std::uint64_t each = 0; each < 4; ++each) threads.emplace_back(work, support::new_seed() + each);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(tested.valid());
    for (unsigned char* const each : shared) tested.deallocate(each);
    EXPECT_TRUE(tested.valid());
}

TEST(heap_background, a_storm_of_threads_is_survived) {
    heap tested({.purge_delay_ns = 10 * millisecond});
    const bool is_slow = support::under_sanitizer() || tenure::checks::caller;
    const int rounds = is_slow ? 30 : 1563; // of 64 threads: 100 032 in all
    std::atomic<void*> left{nullptr};
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::thread> threads;
        for (int each = 0; each < 64; ++each) {
            threads.emplace_back([&, each] {
                std::vector<void*> blocks;
                for (std::size_t bytes = 16; bytes < 20'000; bytes *= 2) blocks.push_back(tested.allocate(bytes));
                std::memset(blocks.back(), each, 16'384);
                tested.deallocate(left.exchange(blocks.front())); // a block of another thread
                for (std::size_t block = 1; block < blocks.size(); ++block) tested.deallocate(blocks[block]);
            });
        }
        for (std::thread& thread : threads) thread.join();
    }
    tested.deallocate(left.exchange(nullptr));
    EXPECT_TRUE(tested.valid());
    EXPECT_EQ(tested.stats().live_count, 0u);
}

TEST(heap_background, forks_while_it_works_leave_parent_and_child_usable) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizers take no threads along into a fork";
    EXPECT_EQ(in_child([] {
                  heap& process = heap::process();
                  heap other({.purge_delay_ns = millisecond});
                  for (int each = 0; each < 40; ++each) {
                      const std::vector<unsigned char*> kept = leave_holes(other), more = leave_holes(process);
                      const pid_t child = ::fork();
                      if (child == 0) {
                          const bool had_none = !tenure::detail::is_background_running();
                          for (unsigned char* const block : kept) other.deallocate(block);
                          for (unsigned char* const block : leave_holes(process)) process.deallocate(block);
                          std::_Exit(had_none && other.valid() && process.valid() ? 0 : 1);
                      }
                      for (unsigned char* const block : kept) other.deallocate(block);
                      for (unsigned char* const block : more) process.deallocate(block);
                      int status = 0;
                      ::waitpid(child, &status, 0);
                      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 2;
                  }
                  return other.valid() && process.valid() ? 0 : 3;
              }),
              0);
}

TEST(heap_background, the_child_of_a_fork_starts_one_when_it_needs_it) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizers take no threads along into a fork";
    const auto is_started = [] {
        for (unsigned char* const block : leave_holes(heap::process())) heap::process().deallocate(block);
        return comes_true([] { return tenure::detail::is_background_running(); });
    };
    EXPECT_EQ(in_child([&] {
                  if (!is_started()) return 1;
                  const pid_t child = ::fork();
                  if (child == 0) std::_Exit(is_started() ? 0 : 2);
                  int status = 0;
                  ::waitpid(child, &status, 0);
                  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
              }),
              0);
}

TEST(heap_background, a_refused_start_is_tried_again) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizers need addresses without a limit";
    constexpr int has_a_stack = 100;
    const int answer = in_child([] {
        heap& process = heap::process();
        std::vector<void*> blocks;
        for (int each = 0; each < 400; ++each) blocks.push_back(process.allocate(40'000));
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        const rlim_t before = std::exchange(limit.rlim_cur, 1); // no memory for a stack
        ::setrlimit(RLIMIT_AS, &limit);
        for (void* const block : blocks) process.deallocate(block);
        if (tenure::detail::is_background_running()) return has_a_stack;
        if (tenure::detail::background != tenure::detail::background_state::refused) return 1;
        limit.rlim_cur = before;
        ::setrlimit(RLIMIT_AS, &limit);
        const bool is_started = comes_true([&] {
            // Enough at once: a sweep by a caller forgets what it has looked at.
            for (void*& block : blocks) block = process.allocate(40'000);
            for (void* const block : blocks) process.deallocate(block);
            return tenure::detail::is_background_running();
        });
        return is_started ? 0 : 2;
    });
    if (answer == has_a_stack) GTEST_SKIP() << "the C library has the stack of a thread of an earlier test";
    EXPECT_EQ(answer, 0);
}

TEST(system_code, is_told_from_the_program_s) {
    // By the library's name: a sanitizer has functions of these names, too.
    const void* const in_libc = tenure::platform::symbol_of_loaded("libc.so.6", "pthread_create");
    ASSERT_NE(in_libc, nullptr);
    EXPECT_TRUE(tenure::platform::may_be_system_code(in_libc));
    const void* const in_the_loader = tenure::pointer_at(::getauxval(AT_BASE));
    ASSERT_NE(in_the_loader, nullptr);
    EXPECT_TRUE(tenure::platform::may_be_system_code(in_the_loader)) << "it frees the records of threads";
    static const int in_the_program = 0;
    EXPECT_EQ(tenure::platform::may_be_system_code(&in_the_program), true) << "the library is part of this program";
    const std::vector<int> on_the_heap(1);
    EXPECT_FALSE(tenure::platform::may_be_system_code(on_the_heap.data()));
}

}
