// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/pool/small_object.hpp>

#include "support/random.hpp"

namespace {

struct shape : tenure::small_object {
    virtual ~shape() = default;
    virtual bool whole() const = 0;
};
template<std::size_t Bytes>
struct filled : shape {
    filled() { std::memset(bytes, static_cast<int>(Bytes), Bytes); }
    bool whole() const override {
        for (unsigned char each : bytes) {
            if (each != static_cast<unsigned char>(Bytes)) return false;
        }
        return true;
    }
    unsigned char bytes[Bytes];
};

shape* make(std::size_t kind) {
    switch (kind) {
    case 0: return new filled<8>;
    case 1: return new filled<100>;
    case 2: return new filled<500>;
    default: return new filled<3000>;
    }
}

TEST(small_object_threads, hundreds_of_short_threads_make_delete_and_hand_over) {
    const std::size_t before = tenure::small_object::stats().live_count;
    std::mutex mutex;
    std::vector<std::unique_ptr<shape>> handed_over;
    for (int round = 0; round < 75; ++round) {
        std::vector<std::thread> threads;
        for (int index = 0; index < 4; ++index) {
            threads.emplace_back([&, seed = static_cast<std::uint64_t>(round * 4 + index)] {
                support::random numbers(seed);
                std::vector<std::unique_ptr<shape>> own;
                for (int step = 0; step < 400; ++step) {
                    if (numbers.one_in(3) && !own.empty()) {
                        std::swap(own[numbers.below(own.size())], own.back());
                        ASSERT_TRUE(own.back()->whole());
                        own.pop_back();
                    } else {
                        own.emplace_back(make(numbers.below(4)));
                    }
                    if (!numbers.one_in(20) || own.empty()) continue;
                    const std::lock_guard lock(mutex);
                    handed_over.push_back(std::move(own.back()));
                    own.pop_back();
                    if (!handed_over.empty() && numbers.one_in(2)) {
                        own.push_back(std::move(handed_over.front()));
                        handed_over.erase(handed_over.begin());
                    }
                }
            });
        }
        for (std::thread& each : threads) each.join();
    }
    for (const auto& each : handed_over) ASSERT_TRUE(each->whole());
    handed_over.clear();
    EXPECT_EQ(tenure::small_object::stats().live_count, before);
}

TEST(small_object_threads, the_first_object_of_a_size_may_be_made_by_many_threads_at_once) {
    std::atomic<int> waiting{8};
    std::vector<std::thread> threads;
    for (int index = 0; index < 8; ++index) {
        threads.emplace_back([&] {
            --waiting;
            while (waiting != 0) std::this_thread::yield();
            const std::unique_ptr<shape> one(new filled<7000>);
            const std::unique_ptr<shape> other(new filled<12'000>);
            EXPECT_TRUE(one->whole() && other->whole());
        });
    }
    for (std::thread& each : threads) each.join();
}

}
