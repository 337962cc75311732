// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Threads that come and go, and what they free when they end.

#include <gtest/gtest.h>

#include <malloc.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "preloaded.hpp"

namespace {

class thread_life : public testing::Test {
protected:
    void SetUp() override { ASSERT_FALSE(dropin_name().empty()); }
};

TEST_F(thread_life, twenty_thousand_threads_leave_nothing_behind) {
    const auto work = [](void*) -> void* {
        std::vector<void*> blocks;
        for (std::size_t bytes = 8; bytes <= 8192; bytes *= 2) blocks.push_back(hidden(std::malloc(bytes)));
        for (void* block : blocks) std::free(block);
        return std::malloc(50);
    };
    std::size_t settled = 0;
    for (int turn = 0; turn < 20'000; ++turn) {
        pthread_t thread{};
        ASSERT_EQ(::pthread_create(&thread, nullptr, work, nullptr), 0) << turn;
        void* block = nullptr;
        ASSERT_EQ(::pthread_join(thread, &block), 0);
        std::free(block);
        if (turn == 1000) settled = resident_bytes();
    }
    EXPECT_LT(resident_bytes(), settled + (std::size_t{4} << 20));
}

TEST_F(thread_life, waves_of_threads_that_live_at_a_time_leave_nothing_behind) {
    std::size_t settled = 0;
    for (int wave = 0; wave < 40; ++wave) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 32; ++i) {
            threads.emplace_back([] {
                std::vector<std::unique_ptr<std::string>> texts;
                for (int j = 0; j < 500; ++j) texts.push_back(std::make_unique<std::string>(200, 'x'));
            });
        }
        for (std::thread& each : threads) each.join();
        if (wave == 10) settled = resident_bytes();
    }
    EXPECT_LT(resident_bytes(), settled + (std::size_t{16} << 20));
}

// What one thread allocates the other frees, in a ring, so that every free is a foreign one.
TEST_F(thread_life, blocks_are_freed_by_other_threads_than_their_own) {
    constexpr int rounds = 300, batch = 500;
    std::vector<void*> passed[2];
    for (int round = 0; round < rounds; ++round) {
        std::vector<void*> next[2];
        const auto work = [&](int me) {
            for (void* block : passed[1 - me]) std::free(block);
            for (int i = 0; i < batch; ++i) {
                const std::size_t bytes = static_cast<std::size_t>(i * 37 % 3000 + (i % 100 == 0 ? 60'000 : 1));
                void* const block = hidden(std::malloc(bytes));
                std::memset(block, me + 1, bytes);
                next[me].push_back(block);
            }
        };
        std::thread other{work, 1};
        work(0);
        other.join();
        for (int me = 0; me < 2; ++me) {
            for (void* block : next[me]) ASSERT_EQ(*static_cast<unsigned char*>(block), me + 1);
            passed[me] = std::move(next[me]);
        }
    }
    for (auto& blocks : passed) {
        for (void* block : blocks) std::free(block);
    }
}

std::size_t letters_late = 0; // of one thread at a time

struct frees_late {
    std::vector<std::string> texts;
    ~frees_late() {
        for (int i = 0; i < 100; ++i) texts.emplace_back(static_cast<std::size_t>(i), 'y');
        for (const std::string& each : texts) letters_late += each.size();
    }
};

TEST_F(thread_life, thread_local_destructors_allocate_and_free) {
    for (std::size_t turn = 1; turn <= 500; ++turn) {
        std::thread{[] {
            thread_local frees_late late;
            late.texts.assign(100, std::string(300, 'z'));
        }}.join();
        ASSERT_EQ(letters_late, turn * (100 * 300 + 99 * 100 / 2));
    }
}

pthread_key_t late_key;
int late_rounds = 0; // of one thread at a time

// Asked for again in each round, so that it runs after everybody else's last one too.
void end_late(void* block) {
    ++late_rounds;
    std::free(block);
    void* blocks[50];
    for (void*& each : blocks) each = hidden(std::malloc(100));
    for (void* each : blocks) std::free(each);
    ::pthread_setspecific(late_key, std::malloc(700)); // the last one stays: that is the program's leak
}

TEST_F(thread_life, key_destructors_of_every_round_allocate_and_free) {
    ASSERT_EQ(::pthread_key_create(&late_key, &end_late), 0);
    const std::size_t before = ::mallinfo2().uordblks;
    constexpr int turns = 300;
    for (int turn = 0; turn < turns; ++turn) {
        late_rounds = 0;
        std::thread{[] { ::pthread_setspecific(late_key, std::malloc(700)); }}.join();
        EXPECT_GE(late_rounds, 4);
    }
    EXPECT_LT(::mallinfo2().uordblks, before + turns * std::size_t{2000});
    ::pthread_key_delete(late_key);
}

TEST_F(thread_life, no_call_is_a_cancellation_point) {
    static bool is_past = false;
    const auto work = [](void* log) -> void* {
        ::pthread_cancel(::pthread_self()); // pending from now on
        for (std::size_t bytes : {std::size_t{10}, std::size_t{100'000}, std::size_t{40} << 20}) {
            void* const block = hidden(std::malloc(bytes));
            std::free(hidden(std::realloc(block, bytes * 2)));
            std::free(hidden(std::calloc(1, bytes)));
            std::free(hidden(std::aligned_alloc(256, bytes)));
        }
        ::malloc_trim(0);
        ::malloc_stats();
        ::malloc_info(0, static_cast<FILE*>(log));
        is_past = true;
        ::pthread_testcancel();
        return nullptr;
    };
    FILE* const nowhere = std::fopen("/dev/null", "w");
    ASSERT_NE(nowhere, nullptr);
    std::setvbuf(nowhere, nullptr, _IONBF, 0); // as stderr: each piece is a system call
    FILE* const before = std::exchange(stderr, nowhere);
    pthread_t thread{};
    ASSERT_EQ(::pthread_create(&thread, nullptr, work, nowhere), 0);
    void* result = nullptr;
    ASSERT_EQ(::pthread_join(thread, &result), 0);
    stderr = before;
    std::fclose(nowhere);
    EXPECT_TRUE(is_past);
    EXPECT_EQ(result, PTHREAD_CANCELED);
}

}
