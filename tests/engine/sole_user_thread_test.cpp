// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/sole_user.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/offset/offset_allocator.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/platform/thread.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/handle_pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>
#include <tenure/pool/stable_vector.hpp>

#include "support/reports.hpp"

namespace {

/// Keeps the thread that acquires inside the allocator's call until open() is called.
class gate final : public tenure::block_source {
public:
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        is_reached_.store(true);
        while (!is_open_.load()) std::this_thread::yield();
        return tenure::page_source::process().acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    [[nodiscard]] std::size_t max_bytes() const noexcept override { return std::size_t{1} << 30; }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

    void wait_until_reached() const noexcept {
        while (!is_reached_.load()) std::this_thread::yield();
    }
    void open() noexcept { is_open_.store(true); }

private:
    std::atomic<bool> is_reached_{false}, is_open_{false};
};

class sole_users : public testing::Test {
protected:
    void SetUp() override {
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    }

    /// Calls `slow` on another thread, which waits at the gate, and `other` here meanwhile.
    template<class Slow, class Other>
    void during(Slow slow, Other other) {
        std::thread second([&] {
            second_id_ = tenure::platform::thread_id();
            slow();
        });
        gate_.wait_until_reached();
        other();
        gate_.open();
        second.join();
    }

    void expect_one_report_of(const std::string& part) {
        EXPECT_EQ(heard_.count(tenure::report_kind::misuse), 1u);
        EXPECT_NE(heard_.last().find("two threads use one " + part + " at the same time: 0x"), std::string::npos)
            << heard_.last();
        EXPECT_NE(heard_.last().find("Thread " + std::to_string(tenure::platform::thread_id()) +
                                     " called it during a call of thread " + std::to_string(second_id_) + "."),
                  std::string::npos)
            << heard_.last();
    }

    gate gate_;
    support::heard_reports heard_;
    std::uint64_t second_id_ = 0;
};

TEST_F(sole_users, two_threads_in_an_arena_are_reported_and_the_later_call_does_nothing) {
    tenure::arena tested(gate_);
    void* made = nullptr;
    during([&] { made = tested.allocate(16); }, [&] { EXPECT_EQ(tested.allocate(16), nullptr); });
    expect_one_report_of("arena");
    EXPECT_NE(made, nullptr);
    EXPECT_EQ(tested.stats().live_bytes, 16u);
    EXPECT_TRUE(tested.valid());
    EXPECT_NE(tested.allocate(16), nullptr) << "the arena can be used again";
    EXPECT_EQ(heard_.count(), 1u);
}

TEST_F(sole_users, every_call_that_changes_an_arena_is_checked) {
    tenure::arena tested(gate_);
    void* made = nullptr;
    during([&] { made = tested.allocate(16); },
           [&] {
               tested.deallocate(&tested, 16);
               EXPECT_EQ(heard_.count(), 1u);
               tested.clear();
               EXPECT_EQ(heard_.count(), 2u);
               static_cast<void>(tested.mark());
               EXPECT_EQ(heard_.count(), 3u);
               EXPECT_EQ(tested.trim(), 0u);
               EXPECT_EQ(heard_.count(), 4u);
           });
    EXPECT_EQ(tested.stats().live_bytes, 16u);
}

TEST_F(sole_users, two_threads_in_a_pool_are_reported_and_told_of_shared_pool) {
    tenure::block_pool tested(64, 16, gate_);
    during([&] { static_cast<void>(tested.allocate()); }, [&] { EXPECT_EQ(tested.allocate(), nullptr); });
    expect_one_report_of("pool");
    EXPECT_NE(heard_.last().find("use a shared_pool"), std::string::npos);
    EXPECT_EQ(tested.size(), 1u);
    EXPECT_TRUE(tested.valid());
}

TEST_F(sole_users, every_call_that_changes_a_pool_is_checked) {
    tenure::block_pool tested(64, 16, gate_);
    during([&] { static_cast<void>(tested.allocate()); },
           [&] {
               tested.deallocate(&tested);
               EXPECT_EQ(heard_.count(), 1u);
               tested.clear();
               EXPECT_EQ(heard_.count(), 2u);
               EXPECT_EQ(tested.trim(), 0u);
               EXPECT_EQ(heard_.count(), 3u);
           });
    EXPECT_EQ(tested.size(), 1u);
}

TEST_F(sole_users, two_threads_in_a_group_of_one_thread_are_reported) {
    tenure::affinity_group tested("tested", {}, gate_);
    during([&] { static_cast<void>(tested.allocate(64)); }, [&] { EXPECT_EQ(tested.allocate(64), nullptr); });
    expect_one_report_of("affinity group");
    EXPECT_NE(heard_.last().find("sharing::any_thread"), std::string::npos);
    EXPECT_EQ(tested.size(), 1u);
    EXPECT_TRUE(tested.valid());
}

TEST_F(sole_users, two_threads_in_an_offset_allocator_are_reported) {
    tenure::offset_allocator tested(1000, gate_);
    during([&] { EXPECT_TRUE(tested.allocate(10)); },
           [&] {
               EXPECT_FALSE(tested.allocate(10));
               EXPECT_EQ(tested.capacity(), 1000u) << "a query is not a call that changes it";
           });
    expect_one_report_of("offset_allocator");
    EXPECT_EQ(tested.usage().range_count, 1u);
    EXPECT_TRUE(tested.valid());
}

/// Its constructor keeps the thread inside the call that constructs it.
struct slow_object {
    slow_object() = default;
    explicit slow_object(gate& at) {
        at.release(at.acquire(4096, 4096), 4096); // waits until the gate is open
    }
};

TEST_F(sole_users, two_threads_in_a_handle_pool_are_reported_and_the_later_call_does_nothing) {
    tenure::handle_pool<slow_object> tested(100);
    const auto first = tested.construct();
    during([&] { EXPECT_TRUE(tested.construct(gate_)); },
           [&] {
               EXPECT_FALSE(tested.construct());
               EXPECT_EQ(heard_.count(), 1u);
               EXPECT_FALSE(tested.destroy(first));
               EXPECT_EQ(heard_.count(), 2u);
               tested.clear();
               EXPECT_EQ(heard_.count(), 3u);
               EXPECT_EQ(tested.trim(), 0u);
               EXPECT_EQ(heard_.count(), 4u);
               EXPECT_TRUE(tested.is_live(first));
           });
    EXPECT_NE(heard_.last().find("two threads use one handle_pool at the same time: 0x"), std::string::npos)
        << heard_.last();
    EXPECT_EQ(tested.size(), 2u);
    EXPECT_TRUE(tested.valid());
    EXPECT_TRUE(tested.destroy(first));
    EXPECT_EQ(heard_.count(), 4u);
}

TEST_F(sole_users, two_threads_in_a_stable_vector_are_reported_and_the_later_call_does_nothing) {
    tenure::stable_vector<slow_object> tested(100);
    ASSERT_NE(tested.emplace_back(), nullptr);
    during([&] { EXPECT_NE(tested.emplace_back(gate_), nullptr); },
           [&] {
               EXPECT_EQ(tested.emplace_back(), nullptr);
               EXPECT_EQ(heard_.count(), 1u);
               EXPECT_EQ(tested.append(2), nullptr);
               EXPECT_EQ(heard_.count(), 2u);
               tested.pop_back();
               EXPECT_EQ(heard_.count(), 3u);
               tested.clear();
               EXPECT_EQ(heard_.count(), 4u);
               EXPECT_FALSE(tested.reserve(100));
               EXPECT_EQ(heard_.count(), 5u);
               EXPECT_EQ(tested.trim(), 0u);
               EXPECT_EQ(heard_.count(), 6u);
               EXPECT_EQ(tested.size(), 1u);
           });
    EXPECT_NE(heard_.last().find("two threads use one stable_vector at the same time: 0x"), std::string::npos)
        << heard_.last();
    EXPECT_EQ(tested.size(), 2u);
    EXPECT_NE(tested.emplace_back(), nullptr) << "the vector can be used again";
    EXPECT_EQ(heard_.count(), 6u);
}

TEST_F(sole_users, threads_that_share_a_shared_pool_are_not_reported) {
    tenure::shared_block_pool tested(64);
    const auto work = [&] {
        for (int count = 0; count < 2000; ++count) tested.deallocate(tested.allocate());
    };
    std::thread second(work);
    work();
    second.join();
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

TEST_F(sole_users, calls_that_a_lock_separates_are_not_reported) {
    tenure::arena arena;
    tenure::block_pool pool(64);
    tenure::affinity_group group("tested");
    tenure::offset_allocator offsets(1 << 20);
    tenure::handle_pool<int> handles(100);
    tenure::stable_vector<int> numbers(100);
    std::mutex mutex;
    const auto work = [&] {
        for (int count = 0; count < 2000; ++count) {
            const std::lock_guard lock(mutex);
            arena.deallocate(arena.allocate(16), 16);
            pool.deallocate(pool.allocate());
            group.deallocate(group.allocate(16));
            offsets.deallocate(offsets.allocate(16));
            static_cast<void>(handles.destroy(handles.construct(1)));
            if (numbers.emplace_back(1) != nullptr) numbers.pop_back();
        }
    };
    std::thread second(work), third(work);
    work();
    second.join();
    third.join();
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

TEST_F(sole_users, objects_that_are_handed_to_another_thread_are_not_reported) {
    tenure::block_pool pool(64);
    for (int count = 0; count < 100; ++count) {
        void* const block = pool.allocate();
        std::thread([&] { pool.deallocate(block); }).join();
    }
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

TEST_F(sole_users, a_free_inside_for_each_is_not_reported) {
    tenure::block_pool pool(64);
    static_cast<void>(pool.allocate());
    static_cast<void>(pool.allocate());
    pool.for_each([&](void* block) { pool.deallocate(block); });
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

TEST_F(sole_users, two_threads_that_begin_at_the_same_time_are_reported_within_a_few_calls) {
    // Whether two calls overlap is up to the scheduler; that no one of these overlaps would take a machine that stops.
    tenure::block_pool pool(64);
    std::atomic<int> ready{0};
    const auto work = [&] {
        ++ready;
        while (ready.load() != 2) std::this_thread::yield();
        for (int count = 0; count < 1'000'000 && heard_.count() == 0; ++count) pool.deallocate(pool.allocate());
    };
    if (tenure::platform::is_under_thread_sanitizer()) GTEST_SKIP() << "it is the race that the sanitizer reports";
    std::thread second(work);
    work();
    second.join();
    EXPECT_NE(heard_.count(), 0u);
}

}
