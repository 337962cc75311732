// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>

#include "lifetime/fixture.hpp"
#include "support/random.hpp"

namespace {

using tenure::temp;
using tenure::temp_job;

constexpr int thread_count = 4;

template<class Work>
void on_threads(int count, Work work) {
    std::vector<std::thread> threads;
    for (int index = 0; index < count; ++index) threads.emplace_back([&work, index] { work(index); });
    for (std::thread& each : threads) each.join();
}

/// Ends frames on a thread of its own while it lives.
class frames_meanwhile {
public:
    ~frames_meanwhile() {
        stop_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> stop_{false};
    std::thread thread_{[this] {
        while (!stop_) {
            tenure::next_frame();
            std::this_thread::yield();
        }
    }};
};

struct message {
    unsigned char* at;
    std::size_t bytes;
};

class mailbox {
public:
    void put(message each) {
        const std::lock_guard lock(mutex_);
        messages_.push_back(each);
    }
    bool get(message& each) {
        const std::lock_guard lock(mutex_);
        if (messages_.empty()) return false;
        each = messages_.back();
        messages_.pop_back();
        return true;
    }

private:
    std::mutex mutex_;
    std::vector<message> messages_;
};

message stamped(std::size_t bytes, std::size_t alignment) {
    auto* const at = static_cast<unsigned char*>(temp_job::allocate(bytes, alignment));
    std::memset(at, static_cast<int>(bytes), bytes);
    return {at, bytes};
}

bool is_stamped(const message& each) {
    for (std::size_t index = 0; index < each.bytes; ++index) {
        if (each.at[index] != static_cast<unsigned char>(each.bytes)) return false;
    }
    return true;
}

class lifetime_threads : public support::temp_job_test {
protected:
    support::heard_leaks leaks_; // frames pass faster here than anyone frees
};

TEST_F(lifetime_threads, producers_and_consumers_free_each_others_blocks_while_frames_end) {
    std::array<mailbox, thread_count> boxes;
    {
        const frames_meanwhile frames;
        on_threads(thread_count, [&](int index) {
            support::random numbers(static_cast<std::uint64_t>(index) + 1);
            for (int round = 0; round < 8000; ++round) {
                const std::size_t bytes = numbers.one_in(200) ? numbers.below(80'000) : numbers.below(300);
                boxes[numbers.below(thread_count)].put(stamped(bytes, std::size_t{1} << numbers.below(8)));
                message received{};
                for (std::size_t left = numbers.below(3); left != 0; --left) {
                    if (!boxes[static_cast<std::size_t>(index)].get(received)) break;
                    ASSERT_TRUE(is_stamped(received));
                    temp_job::deallocate(received.at);
                }
            }
        });
    }
    message received{};
    for (mailbox& each : boxes) {
        while (each.get(received)) {
            ASSERT_TRUE(is_stamped(received));
            temp_job::deallocate(received.at);
        }
    }
    EXPECT_EQ(temp_job::stats().live_count, 0u);
    leaks_.forget();
    support::pass_frames(20);
    EXPECT_EQ(leaks_.count(), 0u) << "what was freed is never named";
}

TEST_F(lifetime_threads, hundreds_of_short_threads_use_both_and_leave_blocks_behind) {
    mailbox left_behind;
    {
        const frames_meanwhile frames;
        for (int round = 0; round < 80; ++round) {
            on_threads(thread_count, [&](int index) {
                support::random numbers(static_cast<std::uint64_t>(round * thread_count + index));
                for (int step = 0; step < 60; ++step) {
                    const tenure::temp_scope scope;
                    const tenure::tag_scope tagged(step % 2 == 0 ? "even thread test" : "odd thread test");
                    auto* const scratch = static_cast<unsigned char*>(temp::allocate(numbers.below(3000) + 1));
                    scratch[0] = 1;
                    const message made = stamped(numbers.below(500), 16);
                    if (numbers.one_in(4))
                        left_behind.put(made);
                    else
                        temp_job::deallocate(made.at);
                    message received{};
                    if (!numbers.one_in(3) || !left_behind.get(received)) continue;
                    ASSERT_TRUE(is_stamped(received));
                    temp_job::deallocate(received.at);
                }
                tenure::reset_temp();
            });
        }
    }
    message received{};
    while (left_behind.get(received)) {
        ASSERT_TRUE(is_stamped(received));
        temp_job::deallocate(received.at);
    }
    temp_job::trim();
    EXPECT_LE(temp_job::stats().chunk_bytes, 65'536u * 2);
}

TEST_F(lifetime_threads, threads_that_never_end_are_asked_for_nothing) {
    std::atomic<bool> stop{false};
    std::atomic<int> ready{0};
    std::vector<message> made(thread_count);
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < thread_count; ++index) {
        threads.emplace_back([&, index] {
            made[index] = stamped(100, 16);
            static_cast<void>(temp::allocate(100));
            ++ready;
            while (!stop) std::this_thread::yield();
            // And goes on as if nothing had been.
            const message late = stamped(100, 16);
            EXPECT_TRUE(is_stamped(late));
            temp_job::deallocate(late.at);
        });
    }
    while (ready != thread_count) std::this_thread::yield();
    support::pass_frames(2000); // more than a chunk stays open for
    for (const message& each : made) {
        EXPECT_TRUE(leaks_.has(each.at));
        EXPECT_TRUE(is_stamped(each));
        temp_job::deallocate(each.at);
    }
    support::pass_frames(10);
    stop = true;
    for (std::thread& each : threads) each.join();
}

TEST_F(lifetime_threads, statistics_and_trims_may_be_asked_for_meanwhile) {
    const frames_meanwhile frames;
    std::atomic<bool> stop{false};
    std::thread asking([&] {
        while (!stop) {
            EXPECT_LE(temp_job::stats().live_count, 100'000u);
            EXPECT_TRUE(temp_job::valid());
            temp_job::trim();
            EXPECT_FALSE(temp_job::owns(&stop));
            static_cast<void>(tenure::usage_of(tenure::tag::named("nobody")));
        }
    });
    on_threads(thread_count, [&](int) {
        std::vector<message> blocks;
        for (int round = 0; round < 60; ++round) {
            for (std::size_t count = 0; count < 200; ++count) blocks.push_back(stamped(count * 3, 16));
            for (const message& each : blocks) {
                ASSERT_TRUE(is_stamped(each));
                temp_job::deallocate(each.at);
            }
            blocks.clear();
        }
    });
    stop = true;
    asking.join();
}

struct late_user {
    void* held = temp_job::allocate(100);
    ~late_user() {
        temp_job::deallocate(held);
        void* const temporary = temp::allocate(1000);
        void* const late = temp_job::allocate(200);
        EXPECT_TRUE(temporary != nullptr && late != nullptr);
        std::memset(temporary, 1, 1000);
        std::memset(late, 1, 200);
        temp_job::deallocate(late);
        ++ended;
    }
    static inline std::atomic<int> ended = 0;
};

TEST_F(lifetime_threads, destructors_of_thread_local_objects_may_allocate_and_free) {
    const frames_meanwhile frames;
    const int before = late_user::ended;
    for (int round = 0; round < 100; ++round) {
        on_threads(2, [](int) {
            thread_local late_user object;
            std::memset(object.held, 1, 100);
        });
    }
    EXPECT_EQ(late_user::ended - before, 200);
}

TEST_F(lifetime_threads, destructors_of_thread_keys_may_allocate_and_free) {
    pthread_key_t key;
    ASSERT_EQ(::pthread_key_create(&key,
                                   [](void* held) {
                                       temp_job::deallocate(held);
                                       std::memset(temp::allocate(1000), 1, 1000);
                                       temp_job::deallocate(temp_job::allocate(10));
                                   }),
              0);
    for (int round = 0; round < 100; ++round)
        on_threads(2, [&](int) { ::pthread_setspecific(key, temp_job::allocate(100)); });
    ::pthread_key_delete(key);
}

// Rounds of one thread's end, counted by a key of the test's own.
pthread_key_t late_key;
int late_rounds = 0; // not thread_local: mingw's first one in a process may not be used in the destructor of a key

TEST_F(lifetime_threads, the_last_destructor_of_a_thread_may_be_the_first_to_use_them) {
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "the sanitizer takes its own leave in that round";
    late_rounds = 0;
    ASSERT_EQ(::pthread_key_create(&late_key,
                                   [](void* value) {
                                       if (++late_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
                                           ::pthread_setspecific(late_key, value);
                                           return;
                                       }
                                       temp_job::deallocate(temp_job::allocate(32));
                                       static_cast<void>(tenure::temp::allocate(32));
                                   }),
              0);
    // A stack of its own size, which the C library gives back when the thread is gone.
    pthread_attr_t attributes;
    ASSERT_EQ(::pthread_attr_init(&attributes), 0);
    ASSERT_EQ(::pthread_attr_setstacksize(&attributes, std::size_t{256} << 20), 0);
    pthread_t thread;
    ASSERT_EQ(::pthread_create(
                  &thread, &attributes,
                  [](void*) -> void* {
                      ::pthread_setspecific(late_key, &late_key);
                      return nullptr;
                  },
                  nullptr),
              0);
    ASSERT_EQ(::pthread_join(thread, nullptr), 0);
    ::pthread_attr_destroy(&attributes);
    ::pthread_key_delete(late_key);
    support::pass_frames(10);
    EXPECT_EQ(temp_job::stats().live_count, 0u);
    EXPECT_TRUE(temp_job::valid());
}

TEST_F(lifetime_threads, past_the_limit_blocks_are_taken_one_by_one_by_many_threads) {
    const support::option_scope limit(tenure::option::temp_job_limit_bytes, 0);
    mailbox box;
    {
        const frames_meanwhile frames;
        on_threads(thread_count, [&](int) {
            for (int round = 0; round < 300; ++round) {
                box.put(stamped(100, 16));
                message received{};
                if (!box.get(received)) continue;
                ASSERT_TRUE(is_stamped(received));
                temp_job::deallocate(received.at);
                if (round % 50 == 0) {
                    EXPECT_LE(temp_job::stats().live_count, 4u * 300);
                }
            }
        });
    }
    message received{};
    while (box.get(received)) temp_job::deallocate(received.at);
}

TEST_F(lifetime_threads, overflowing_temps_share_the_chunks) {
    const support::option_scope budget(tenure::option::temp_budget_bytes, 4096);
    const frames_meanwhile frames;
    for (int round = 0; round < 20; ++round) {
        on_threads(thread_count, [&](int index) {
            for (int frame = 0; frame < 10; ++frame) {
                std::vector<unsigned char*> blocks;
                for (int count = 0; count < 200; ++count) {
                    blocks.push_back(static_cast<unsigned char*>(temp::allocate(1000)));
                    std::memset(blocks.back(), index, 1000);
                    temp_job::deallocate(stamped(1000, 16).at);
                }
                for (unsigned char* each : blocks) {
                    ASSERT_EQ(each[0], index);
                    ASSERT_EQ(each[999], index);
                }
                tenure::reset_temp();
            }
        });
    }
}

}
