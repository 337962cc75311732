// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap.hpp>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>

#include "support/process.hpp"
#include "support/random.hpp"

namespace {

using tenure::heap;

struct message {
    unsigned char* at;
    std::size_t bytes;
    unsigned char stamp;
};

/// Messages on their way from thread to thread.
class mailbox {
public:
    void send(const message& sent) {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(sent);
    }
    bool receive(message& received) {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) return false;
        received = waiting_.front();
        waiting_.pop_front();
        return true;
    }

private:
    std::mutex mutex_;
    std::deque<message> waiting_;
};

std::size_t some_bytes(support::random& numbers) {
    if (numbers.one_in(200)) return numbers.below(40'000'000) + 1;
    return numbers.one_in(20) ? numbers.below(200'000) + 1 : numbers.below(700) + 1;
}

void write(const message& block) { block.at[0] = block.at[block.bytes / 2] = block.at[block.bytes - 1] = block.stamp; }
void expect_whole(const message& block) {
    ASSERT_TRUE(block.at[0] == block.stamp && block.at[block.bytes / 2] == block.stamp &&
                block.at[block.bytes - 1] == block.stamp);
}

void exchange(heap& tested, mailbox& mails, std::uint64_t seed, int rounds) {
    support::random numbers(seed);
    std::vector<message> mine;
    for (int round = 0; round < rounds; ++round) {
        const std::size_t bytes = some_bytes(numbers);
        message fresh{static_cast<unsigned char*>(tested.allocate(bytes)), bytes, static_cast<unsigned char>(round)};
        ASSERT_NE(fresh.at, nullptr);
        write(fresh);
        numbers.one_in(3) ? mails.send(fresh) : mine.push_back(fresh);
        message received{};
        if (numbers.one_in(3) && mails.receive(received)) {
            expect_whole(received);
            if (numbers.one_in(4)) {
                received.at = static_cast<unsigned char*>(tested.reallocate(received.at, received.bytes + 100));
                received.bytes += 100;
            }
            tested.deallocate(received.at, received.bytes);
        }
        while (mine.size() > 50) {
            const std::size_t which = numbers.below(mine.size());
            expect_whole(mine[which]);
            tested.deallocate(mine[which].at);
            mine[which] = mine.back();
            mine.pop_back();
        }
        if (numbers.one_in(1000)) tested.trim();
        if (numbers.one_in(1000)) static_cast<void>(tested.stats());
    }
    for (const message& each : mine) {
        expect_whole(each);
        tested.deallocate(each.at);
    }
}

TEST(heap_threads, blocks_keep_their_contents_on_their_way_between_threads) {
    tenure::counting_source source(tenure::page_source::process());
    {
        heap tested({.purge_delay_ns = 20'000'000}, source);
        for (int generation = 0; generation < 3; ++generation) {
            mailbox mails;
            std::vector<std::thread> threads;
            for (std::uint64_t each = 0; each < 4; ++each)
                threads.emplace_back([&, each] { exchange(tested, mails, each + 1, 3000); });
            for (std::thread& each : threads) each.join();
            message left{};
            while (mails.receive(left)) {
                expect_whole(left);
                tested.deallocate(left.at);
            }
            EXPECT_EQ(tested.stats().live_count, 0u);
            EXPECT_TRUE(tested.valid());
        }
        tested.trim();
        EXPECT_EQ(source.live_blocks(), 0u) << "ended threads keep nothing";
    }
}

TEST(heap_threads, thousands_one_after_the_other_cost_no_more_than_one) {
    heap tested;
    std::size_t reserved = 0;
    for (int each = 0; each < 3000; ++each) {
        void* handed_on = nullptr;
        std::thread([&] {
            void* const block = tested.allocate(100);
            handed_on = tested.allocate(200);
            void* const process_block = heap::process().allocate(50);
            std::memset(block, 1, 100);
            heap::process().deallocate(process_block);
            tested.deallocate(block);
        }).join();
        tested.deallocate(handed_on); // its thread is gone
        if (each == 10) reserved = tested.stats().reserved_bytes;
    }
    EXPECT_EQ(tested.stats().reserved_bytes, reserved);
    EXPECT_EQ(tested.stats().live_count, 0u);
}

// What threads free at their very end, in every order in which a program can have it.
struct late_block {
    void* process_block = heap::process().allocate(100);
    ~late_block() {
        heap::process().deallocate(process_block);
        void* const another = heap::process().allocate(10'000);
        heap::process().deallocate(another);
    }
};

void free_at_key_end(void* block) {
    heap::process().deallocate(block);
    void* const once_more = heap::process().allocate(64);
    heap::process().deallocate(once_more);
}

TEST(heap_threads, destructors_of_thread_local_objects_and_keys_may_free_late) {
    pthread_key_t key{};
    ASSERT_EQ(pthread_key_create(&key, &free_at_key_end), 0);
    const std::size_t before = heap::process().stats().live_count;
    for (int round = 0; round < 50; ++round) {
        std::thread([&] {
            thread_local late_block late;
            static_cast<void>(late.process_block);
            pthread_setspecific(key, heap::process().allocate(500));
        }).join();
    }
    EXPECT_EQ(heap::process().stats().live_count, before);
    pthread_key_delete(key);
}

TEST(heap_threads, heaps_come_and_go_while_threads_that_used_them_live_on) {
    std::unique_ptr<heap> current;
    std::atomic<int> round{0}; // odd while `current` may be used
    std::atomic<int> done{0};
    std::atomic<bool> is_over{false};
    std::vector<std::thread> threads;
    for (int each = 0; each < 2; ++each) {
        threads.emplace_back([&] {
            int last = 0;
            while (!is_over.load()) {
                const int now = round.load();
                if (now == last || now % 2 == 0) {
                    std::this_thread::yield();
                    continue;
                }
                last = now;
                for (std::size_t bytes = 0; bytes < 200; ++bytes) current->deallocate(current->allocate(bytes));
                ++done;
            }
        });
    }
    for (int each = 1; each <= 60; ++each) {
        current = std::make_unique<heap>();
        ++round;
        while (done.load() < 2 * each) std::this_thread::yield();
        ++round;
        EXPECT_EQ(current->stats().live_count, 0u);
    }
    is_over = true;
    for (std::thread& each : threads) each.join();
}

TEST(heap_threads, a_cache_grows_with_its_traffic_up_to_a_sum) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds have quarantines";
    heap tested;
    const auto cached_bytes = [&](std::size_t class_index) {
        return tenure::detail::core_of(tested).cached_count(class_index) * tenure::detail::class_bytes(class_index);
    };
    std::vector<void*> blocks(400);
    const auto replace_all = [&](std::size_t bytes) {
        for (void*& block : blocks) block = tested.allocate(bytes);
        for (void* const block : blocks) tested.deallocate(block);
    };
    constexpr std::size_t first = tenure::detail::class_of(1024);
    tested.deallocate(tested.allocate(8192));
    EXPECT_LE(cached_bytes(tenure::detail::class_of(8192)), 32u * 1024);
    for (int each = 0; each < 20; ++each) replace_all(8192);
    EXPECT_GT(cached_bytes(tenure::detail::class_of(8192)), 64u * 1024);
    std::size_t base = 0, all = 0;
    for (int each = 0; each < 20; ++each) {
        for (std::size_t index = first; index < tenure::detail::small_class_count; ++index)
            replace_all(tenure::detail::class_bytes(index));
    }
    for (std::size_t index = first; index < tenure::detail::small_class_count; ++index) {
        base += tenure::detail::base_cached(index) * tenure::detail::class_bytes(index);
        all += cached_bytes(index);
    }
    EXPECT_GT(all, base);
    EXPECT_LE(all, base + tenure::detail::max_extra_bytes);
    tested.trim();
    EXPECT_EQ(cached_bytes(tenure::detail::class_of(8192)), 0u);
}

// What a trim asks of other threads' caches must not wait for an allocation: a thread that receives may never allocate.
TEST(heap_threads, one_that_only_frees_follows_the_trim_of_another) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds have no caches";
    heap tested;
    constexpr std::size_t bytes = 64, cached_first = 300;
    constexpr std::size_t class_index = tenure::detail::class_for(bytes, tenure::default_alignment);
    std::vector<void*> blocks;
    for (int each = 0; each < 1000; ++each) blocks.push_back(tested.allocate(bytes));
    const auto free_some = [&](std::size_t count) {
        for (std::size_t each = 0; each < count; ++each) {
            tested.deallocate(blocks.back());
            blocks.pop_back();
        }
    };
    std::atomic<int> stage{0};
    std::thread other([&] {
        free_some(cached_first);
        stage = 1;
        stage.notify_all();
        stage.wait(1);
        free_some(tenure::detail::base_cached(class_index) - cached_first + 1); // one more than there is room for
        EXPECT_EQ(tenure::detail::core_of(tested).cached_count(class_index), 1u);
    });
    stage.wait(0);
    tested.trim();
    EXPECT_EQ(tenure::detail::core_of(tested).cached_count(class_index), cached_first);
    stage = 2;
    stage.notify_all();
    other.join();
    free_some(blocks.size());
    EXPECT_EQ(tested.stats().live_count, 0u);
    EXPECT_TRUE(tested.valid());
}

/// Allocates and frees until told to stop.
void busy(heap& tested, const std::atomic<bool>& is_over, std::uint64_t seed) {
    support::random numbers(seed);
    std::vector<void*> blocks;
    while (!is_over.load(std::memory_order_relaxed)) {
        blocks.push_back(tested.allocate(some_bytes(numbers)));
        void* const process_block = heap::process().allocate(numbers.below(5000));
        if (blocks.size() > 30) {
            for (void* const block : blocks) tested.deallocate(block);
            blocks.clear();
        }
        heap::process().deallocate(process_block);
    }
    for (void* const block : blocks) tested.deallocate(block);
}

TEST(heap_threads, both_sides_of_a_fork_go_on) {
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "ThreadSanitizer follows no threads of a forked child";
    heap tested;
    std::atomic<bool> is_over{false};
    std::vector<std::thread> threads;
    for (std::uint64_t each = 0; each < 3; ++each) threads.emplace_back([&, each] { busy(tested, is_over, each + 1); });
    const int rounds = tenure::checks::caller ? 15 : 100; // checked builds fill what is freed, in every child
    for (int round = 0; round < rounds; ++round) {
        void* const mine = tested.allocate(300);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            tested.deallocate(mine);
            std::vector<void*> blocks;
            for (std::size_t bytes = 1; bytes < 2'000'000; bytes += bytes / 3 + 1) {
                blocks.push_back(tested.allocate(bytes));
                blocks.push_back(heap::process().allocate(bytes));
                std::memset(blocks.back(), 1, bytes);
            }
            for (std::size_t each = 0; each < blocks.size(); each += 2) {
                tested.deallocate(blocks[each]);
                heap::process().deallocate(blocks[each + 1]);
            }
            std::_Exit(tested.valid() && heap::process().valid() ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round << ": " << status;
        tested.deallocate(mine);
    }
    is_over = true;
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(tested.stats().live_count, 0u);
    EXPECT_TRUE(tested.valid());
}

TEST(heap_threads, a_visitor_of_usages_may_be_the_first_on_its_thread_to_allocate) {
    heap visited, other;
    int visits = 0;
    support::on_fresh_thread([&] {
        heap::for_each_usage([&](const tenure::heap_usage&) {
            void* const block = other.allocate(100);
            visits += block != nullptr;
            other.deallocate(block);
        });
    });
    EXPECT_GE(visits, 3) << "the process's and two";
}

}
