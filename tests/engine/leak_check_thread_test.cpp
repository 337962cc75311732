// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program ends while a thread is inside a call and keeps its lock: the report says so, and does not wait for ever.

#include <tenure/engine/leak_check.hpp>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/frame_memory.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_pool.hpp>

#include "support/at_exit.hpp"
#include "support/process.hpp"

namespace game {
struct rock {
    int weight[20];
};
}

namespace {

using game::rock;
using support::check_leaks;
using support::end;
using support::forever;
using support::lacks;

/// From its second block on, no request returns.
class stuck_source final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        if (!is_stuck) return tenure::page_source::process().acquire(bytes, alignment);
        has_request = true;
        for (;;) ::pause();
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

    std::atomic<bool> is_stuck{false}, has_request{false};
};

/// Runs `allocate()` on another thread until the source gets a request.
template<class Allocate>
void get_stuck(stuck_source& source, Allocate&& allocate) {
    ::alarm(60); // ends a program that waits for ever
    source.is_stuck = true;
    std::thread([allocate] {
        for (;;) allocate();
    }).detach();
    while (!source.has_request) std::this_thread::yield();
}

class leak_check_thread_death : public testing::Test {
protected:
    leak_check_thread_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

constexpr const char* in_use = " was in use: a call of a thread holds its lock, so its blocks are not counted\\.\n";
constexpr const char* advice = "tenure: Join the threads before the program ends, ";

TEST_F(leak_check_thread_death, does_not_wait_for_a_shared_pool) {
    const auto program = [] {
        check_leaks();
        auto& source = forever<stuck_source>();
        auto& rocks = forever<tenure::shared_pool<rock>>(source);
        static_cast<void>(rocks.construct());
        static_cast<void>(forever<tenure::block_pool>(std::size_t{64}).allocate());
        get_stuck(source, [&rocks] { static_cast<void>(rocks.construct()); });
        end();
    };
    const char* const which =
        tenure::checks::caller ? "tenure: the shared pool of game::rock" : "the shared pool at 0x";
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), which);
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), in_use);
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), advice);
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  pool of 64-byte blocks: 1 block, 64 bytes\n");
}

TEST_F(leak_check_thread_death, does_not_wait_for_a_heap) {
    const auto program = [] {
        check_leaks();
        auto& source = forever<stuck_source>();
        auto& textures = forever<tenure::heap>(tenure::heap_options{.name = "textures"}, source);
        static_cast<void>(textures.allocate(100));
        get_stuck(source, [&textures] { static_cast<void>(textures.allocate(1'000'000)); });
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), support::joined("tenure: the heap textures", in_use, advice));
}

TEST_F(leak_check_thread_death, does_not_wait_for_a_group) {
    const auto program = [](std::size_t bytes) {
        check_leaks();
        auto& source = forever<stuck_source>();
        const tenure::affinity_options shared{.threads = tenure::sharing::any_thread};
        auto& nodes = forever<tenure::affinity_group>("nodes", shared, source);
        static_cast<void>(nodes.allocate(bytes));
        get_stuck(source, [&nodes, bytes] { static_cast<void>(nodes.allocate(bytes)); });
        end();
    };
    for (const std::size_t bytes : {std::size_t{1000}, std::size_t{3'000'000}})
        EXPECT_EXIT(program(bytes), testing::ExitedWithCode(0),
                    support::joined("tenure: the affinity group nodes", in_use, advice));
}

TEST_F(leak_check_thread_death, does_not_wait_for_a_call_that_a_signal_handler_interrupted) {
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "it reports exit() in a signal handler";
    EXPECT_EXIT(
        {
            check_leaks();
            static stuck_source& source = forever<stuck_source>();
            auto& rocks = forever<tenure::shared_pool<rock>>(source);
            static_cast<void>(rocks.construct());
            source.is_stuck = true;
            static_cast<void>(std::signal(SIGALRM, [](int) { end(); }));
            ::alarm(1);
            for (;;) static_cast<void>(rocks.construct());
        },
        testing::ExitedWithCode(0), in_use);
}

TEST_F(leak_check_thread_death, waits_for_a_call_that_ends_soon) {
    EXPECT_EXIT(
        {
            check_leaks();
            auto& rocks = forever<tenure::shared_pool<rock>>();
            static_cast<void>(rocks.construct());
            std::thread([&rocks] {
                for (;;) rocks.destroy(rocks.construct());
            }).detach();
            end();
        },
        testing::ExitedWithCode(0), lacks("was in use"));
}

TEST(lock_patience, ends) {
    tenure::platform::mutex lock;
    std::atomic<bool> is_held{false}, is_over{false};
    std::thread holder([&] {
        const tenure::platform::lock_guard held(lock);
        is_held = true;
        while (!is_over) std::this_thread::yield();
    });
    while (!is_held) std::this_thread::yield();
    tenure::platform::lock_patience patience(1'000'000);
    EXPECT_FALSE(patience.try_lock(lock));
    EXPECT_FALSE(patience.sees_free(lock));
    is_over = true;
    holder.join();
    EXPECT_TRUE(patience.sees_free(lock));
    {
        const tenure::platform::patient_lock held(lock, patience);
        EXPECT_TRUE(static_cast<bool>(held));
        EXPECT_FALSE(static_cast<bool>(tenure::platform::patient_lock(lock, patience))) << "it is this thread's";
    }
    EXPECT_TRUE(lock.is_free());
}

}
