// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread.hpp>

#include <pthread.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace platform = tenure::platform;

std::atomic<int> calls_of_first{0};
std::atomic<int> calls_of_second{0};
void first_end() noexcept { ++calls_of_first; }
void second_end() noexcept { ++calls_of_second; }

TEST(thread_end, each_function_is_called_once_per_thread_that_asked) {
    calls_of_first = calls_of_second = 0;
    for (int count = 1; count <= 50; ++count) {
        std::thread([=] {
            EXPECT_TRUE(platform::at_thread_end(&first_end));
            EXPECT_TRUE(platform::at_thread_end(&first_end));
            if (count % 2 == 0) {
                EXPECT_TRUE(platform::at_thread_end(&second_end));
            }
            EXPECT_EQ(calls_of_first, count - 1);
        }).join();
        EXPECT_EQ(calls_of_first, count);
        EXPECT_EQ(calls_of_second, count / 2);
    }
    std::thread([] {}).join();
    EXPECT_EQ(calls_of_first, 50);
}

std::atomic<int> order{0};
std::atomic<int> order_of_object{0};
std::atomic<int> order_of_function{0};
void note_order() noexcept { order_of_function = ++order; }
struct thread_object {
    ~thread_object() {
        EXPECT_TRUE(platform::at_thread_end(&note_order));
        order_of_object = ++order;
    }
};

TEST(thread_end, it_comes_after_the_destructors_of_thread_local_objects) {
    std::thread([] {
        EXPECT_TRUE(platform::at_thread_end(&note_order));
        thread_local thread_object object;
        static_cast<void>(&object);
    }).join();
    EXPECT_GT(order_of_function, order_of_object);
#if defined(__GLIBC__) // elsewhere it is called before them as well
    EXPECT_EQ(order_of_object, 1);
    EXPECT_EQ(order_of_function, 2);
#endif
}

std::atomic<int> late_calls{0};
void late_end() noexcept {
    // What a later destructor uses again is cleaned up again.
    if (++late_calls < 3) {
        EXPECT_TRUE(platform::at_thread_end(&late_end));
    }
}

TEST(thread_end, whoever_asks_again_during_the_end_is_called_again) {
    std::thread([] { EXPECT_TRUE(platform::at_thread_end(&late_end)); }).join();
    EXPECT_EQ(late_calls, 3);
}

TEST(thread_end, a_destructor_of_another_key_may_ask_again) {
    static std::atomic<int> calls{0};
    static pthread_key_t key;
    static const auto end = +[]() noexcept { ++calls; };
    ASSERT_EQ(::pthread_key_create(&key, [](void*) { EXPECT_TRUE(platform::at_thread_end(end)); }), 0);
    std::thread([] {
        EXPECT_TRUE(platform::at_thread_end(end));
        ::pthread_setspecific(key, &key);
    }).join();
    EXPECT_GE(calls, 1);
    EXPECT_LE(calls, 2);
    ::pthread_key_delete(key);
}

template<int number>
void numbered_end() noexcept {}

TEST(thread_end, there_is_room_for_eight_functions_and_a_ninth_is_refused) {
    // Others of this process may have taken some already.
    int accepted = 0;
    const platform::thread_end_function functions[] = {&numbered_end<0>, &numbered_end<1>, &numbered_end<2>,
                                                       &numbered_end<3>, &numbered_end<4>, &numbered_end<5>,
                                                       &numbered_end<6>, &numbered_end<7>, &numbered_end<8>};
    std::thread([&] {
        for (platform::thread_end_function each : functions) accepted += platform::at_thread_end(each);
        for (int index = 0; index < accepted; ++index) EXPECT_TRUE(platform::at_thread_end(functions[index]));
        EXPECT_FALSE(platform::at_thread_end(functions[accepted]));
    }).join();
    EXPECT_GT(accepted, 0);
    EXPECT_LE(accepted, 8);
}

TEST(thread_end, many_threads_may_ask_for_the_same_function_first) {
    static std::atomic<int> calls{0};
    static const auto end = +[]() noexcept { ++calls; };
    std::atomic<int> accepted{0};
    std::vector<std::thread> threads;
    for (int index = 0; index < 16; ++index) threads.emplace_back([&] { accepted += platform::at_thread_end(end); });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(calls, accepted); // all of them, or none when the process has no slot left
    EXPECT_TRUE(accepted == 0 || accepted == 16);
}

TEST(thread_id, live_threads_have_different_numbers) {
    std::atomic<int> waiting{8};
    std::vector<std::uint64_t> numbers(8);
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < 8; ++index) {
        threads.emplace_back([&, index] {
            numbers[index] = platform::thread_id();
            --waiting;
            while (waiting != 0) std::this_thread::yield();
        });
    }
    for (std::thread& each : threads) each.join();
    std::set<std::uint64_t> different(numbers.begin(), numbers.end());
    different.insert(platform::thread_id());
    EXPECT_EQ(different.size(), 9u);
    EXPECT_EQ(platform::thread_id(), platform::thread_id());
}

}
