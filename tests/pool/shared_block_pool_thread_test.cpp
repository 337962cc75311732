// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/pool/shared_block_pool.hpp>
#include <tenure/pool/shared_pool.hpp>

#include "support/random.hpp"

namespace {

using tenure::shared_block_pool;

constexpr int thread_count = 4;

template<class Work>
void on_threads(int count, Work work) {
    std::vector<std::thread> threads;
    for (int index = 0; index < count; ++index) threads.emplace_back([&work, index] { work(index); });
    for (std::thread& each : threads) each.join();
}

/// Blocks on their way from one thread to another.
class mailbox {
public:
    void put(void* block) {
        const std::lock_guard lock(mutex_);
        blocks_.push_back(block);
    }
    void* get() {
        const std::lock_guard lock(mutex_);
        if (blocks_.empty()) return nullptr;
        void* const block = blocks_.front();
        blocks_.pop_front();
        return block;
    }

private:
    std::mutex mutex_;
    std::deque<void*> blocks_;
};

struct stamped {
    void* self;
    unsigned char rest[56];
};

void stamp(void* block) {
    auto* const words = static_cast<stamped*>(block);
    words->self = block;
    std::memset(words->rest, static_cast<int>(reinterpret_cast<std::uintptr_t>(block) >> 6), sizeof words->rest);
}

bool is_stamped(void* block) {
    auto* const words = static_cast<stamped*>(block);
    const auto expected = static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(block) >> 6);
    for (unsigned char each : words->rest) {
        if (each != expected) return false;
    }
    return words->self == block;
}

TEST(shared_block_pool_threads, threads_free_each_others_blocks) {
    shared_block_pool pool(sizeof(stamped));
    std::array<mailbox, thread_count> boxes;
    on_threads(thread_count, [&](int index) {
        support::random numbers(static_cast<std::uint64_t>(index) + 1);
        for (int round = 0; round < 20'000; ++round) {
            void* const block = pool.allocate();
            stamp(block);
            boxes[numbers.below(thread_count)].put(block);
            for (std::size_t left = numbers.below(3); left != 0; --left) {
                void* const received = boxes[static_cast<std::size_t>(index)].get();
                if (received == nullptr) break;
                ASSERT_TRUE(is_stamped(received));
                pool.deallocate(received);
            }
        }
    });
    std::size_t waiting = 0;
    for (mailbox& each : boxes) {
        while (void* const block = each.get()) {
            ASSERT_TRUE(is_stamped(block));
            ++waiting;
            pool.deallocate(block);
        }
    }
    EXPECT_GT(waiting, 0u);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
}

TEST(shared_block_pool_threads, what_a_thread_keeps_comes_back_when_it_ends) {
    tenure::counting_source source(tenure::page_source::process());
    shared_block_pool pool(64, 16, source);
    std::vector<void*> kept(200);
    for (int round = 0; round < 200; ++round) {
        on_threads(2, [&](int index) {
            std::array<void*, 100> blocks;
            for (void*& each : blocks) each = pool.allocate();
            for (std::size_t number = 1; number < blocks.size(); ++number) pool.deallocate(blocks[number]);
            kept[static_cast<std::size_t>(100 * index + round % 100)] = blocks[0];
        });
        if (round % 100 != 99) continue;
        EXPECT_EQ(pool.size(), 200u);
        for (void* each : kept) pool.deallocate(each); // their threads are gone
    }
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(source.requests(), 1u) << "no block of an ended thread is lost";
    EXPECT_TRUE(pool.valid());
    pool.trim();
    EXPECT_EQ(source.live_blocks(), 0u);
}

TEST(shared_block_pool_threads, a_pool_may_end_while_threads_that_used_it_live_on) {
    std::optional<shared_block_pool> pool;
    std::atomic<int> turn{0}; // even: this thread's, odd: the others'
    std::atomic<int> done{0};
    constexpr int rounds = 50;
    std::thread driver([&] {
        for (int round = 0; round < rounds; ++round) {
            pool.emplace(static_cast<std::size_t>(32 + 16 * (round % 3)));
            done = 0;
            turn = 2 * round + 1;
            while (done != thread_count) std::this_thread::yield();
            EXPECT_EQ(pool->size(), static_cast<std::size_t>(thread_count));
            pool.reset(); // the next one gets its place in the table
        }
    });
    on_threads(thread_count, [&](int) {
        for (int round = 0; round < rounds; ++round) {
            while (turn < 2 * round + 1) std::this_thread::yield();
            std::array<void*, 300> blocks;
            for (void*& each : blocks) {
                each = pool->allocate();
                ASSERT_TRUE(pool->owns(each));
                std::memset(each, round, pool->block_bytes());
            }
            for (std::size_t number = 1; number < blocks.size(); ++number) pool->deallocate(blocks[number]);
            ++done;
            while (turn == 2 * round + 1 && done != thread_count) std::this_thread::yield();
        }
    });
    driver.join();
}

TEST(shared_block_pool_threads, a_pool_may_end_while_threads_that_used_it_end) {
    for (int round = 0; round < 100; ++round) {
        auto pool = std::make_unique<shared_block_pool>(64);
        std::atomic<int> used{0};
        std::vector<std::thread> threads;
        for (int index = 0; index < thread_count; ++index) {
            threads.emplace_back([&] {
                void* const block = pool->allocate();
                EXPECT_NE(block, nullptr);
                pool->deallocate(block);
                ++used;
            });
        }
        while (used != thread_count) std::this_thread::yield();
        EXPECT_EQ(pool->stats().live_count, 0U);
        pool.reset();
        for (std::thread& each : threads) each.join();
    }
}

shared_block_pool& pool_of_late_objects() {
    static shared_block_pool pool(64);
    return pool;
}

struct late_object {
    void* held = pool_of_late_objects().allocate();
    ~late_object() {
        pool_of_late_objects().deallocate(held);
        void* const late = pool_of_late_objects().allocate();
        std::memset(late, 1, 64);
        pool_of_late_objects().deallocate(late);
    }
};

TEST(shared_block_pool_threads, destructors_of_thread_local_objects_may_allocate_and_free) {
    static_cast<void>(pool_of_late_objects().size());
    for (int round = 0; round < 100; ++round) {
        on_threads(2, [](int) {
            thread_local late_object object;
            std::memset(object.held, 1, 64);
        });
    }
    EXPECT_EQ(pool_of_late_objects().size(), 0u);
    EXPECT_TRUE(pool_of_late_objects().valid());
}

TEST(shared_block_pool_threads, destructors_of_thread_keys_may_allocate_and_free) {
    static_cast<void>(pool_of_late_objects().size());
    pthread_key_t key;
    ASSERT_EQ(::pthread_key_create(&key,
                                   [](void* held) {
                                       pool_of_late_objects().deallocate(held);
                                       pool_of_late_objects().deallocate(pool_of_late_objects().allocate());
                                   }),
              0);
    for (int round = 0; round < 100; ++round)
        on_threads(2, [&](int) { ::pthread_setspecific(key, pool_of_late_objects().allocate()); });
    ::pthread_key_delete(key);
    EXPECT_EQ(pool_of_late_objects().size(), 0u);
    EXPECT_TRUE(pool_of_late_objects().valid());
}

TEST(shared_pool_threads, objects_are_destroyed_by_any_thread) {
    static std::atomic<int> alive{0};
    struct counted {
        counted() { ++alive; }
        ~counted() { --alive; }
        std::array<int, 10> data{};
    };
    {
        tenure::shared_pool<counted> pool;
        std::array<std::vector<counted*>, thread_count> made;
        on_threads(thread_count, [&](int index) {
            for (int count = 0; count < 5000; ++count)
                made[static_cast<std::size_t>(index)].push_back(pool.construct());
        });
        EXPECT_EQ(alive, thread_count * 5000);
        EXPECT_EQ(pool.size(), thread_count * 5000u);
        on_threads(thread_count, [&](int index) {
            for (counted* each : made[static_cast<std::size_t>((index + 1) % thread_count)]) {
                if (each->data[0]++ % 2 == 0) pool.destroy(each);
            }
        });
        EXPECT_EQ(alive, 0);
        on_threads(thread_count, [&](int) { static_cast<void>(pool.construct()); });
        EXPECT_EQ(alive, thread_count);
    }
    EXPECT_EQ(alive, 0);
}

TEST(shared_block_pool_threads, the_size_may_be_asked_for_meanwhile) {
    shared_block_pool pool(64);
    std::atomic<bool> stop{false};
    std::thread asking([&] {
        while (!stop) {
            EXPECT_LE(pool.size(), 10'000u);
            EXPECT_LE(pool.stats().live_count, 10'000u);
            EXPECT_FALSE(pool.owns(&pool));
        }
    });
    on_threads(thread_count, [&](int) {
        std::vector<void*> blocks;
        for (int round = 0; round < 50; ++round) {
            for (int count = 0; count < 300; ++count) blocks.push_back(pool.allocate());
            for (void* each : blocks) pool.deallocate(each);
            blocks.clear();
        }
    });
    stop = true;
    asking.join();
    EXPECT_EQ(pool.size(), 0u);
}

}
