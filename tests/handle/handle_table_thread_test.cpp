// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "handle/fixture.hpp"
#include "support/process.hpp"
#include "support/random.hpp"

namespace {

using tenure::handle;
using tenure::status;

template<class Work>
void on_threads(std::size_t count, Work work) {
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < count; ++index) threads.emplace_back([=] { work(index); });
    for (std::thread& each : threads) each.join();
}

TEST_F(handles, a_handle_is_removed_by_one_thread_alone) {
    for (int round = 0; round < 300; ++round) {
        const handle one = add();
        std::atomic<int> removed{0};
        on_threads(3, [&](std::size_t) { removed += table_.remove(one) == status::ok; });
        ASSERT_EQ(removed, 1);
        ASSERT_EQ(releases, round + 1);
    }
    EXPECT_TRUE(table_.valid());
}

// Whoever has acquired it must see its memory until the release, whatever others try.
TEST_F(handles, an_acquired_handle_outlives_whoever_wants_to_remove_it) {
    struct object {
        std::atomic<bool> is_there{true};
    };
    static object objects[64];
    std::mutex mutex;
    handle current;
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> seen{0};
    const auto leave = [](void* pointer, std::size_t) noexcept { static_cast<object*>(pointer)->is_there = false; };
    std::thread owner([&] {
        for (int round = 0; round < 20'000; ++round) {
            object& next = objects[round % 64];
            next.is_there = true;
            const handle made = table_.add(&next, sizeof next, leave, "object");
            {
                const std::lock_guard lock(mutex);
                current = made;
            }
            while (table_.remove(made) != status::ok) std::this_thread::yield();
        }
        stop = true;
    });
    on_threads(2, [&](std::size_t) {
        while (!stop) {
            handle mine;
            {
                const std::lock_guard lock(mutex);
                mine = current;
            }
            if (table_.acquire(mine) != status::ok) continue;
            EXPECT_TRUE(static_cast<object*>(mine.pointer)->is_there);
            ++seen;
            EXPECT_TRUE(static_cast<object*>(mine.pointer)->is_there);
            EXPECT_EQ(table_.release(mine), status::ok);
        }
    });
    owner.join();
    EXPECT_EQ(table_.usage().live_count, 0u);
    EXPECT_EQ(table_.usage().held_count, 0u);
    EXPECT_TRUE(table_.valid());
}

// The entry's former handle is released again and again, by mistake, while others hold what has the entry now.
TEST_F(handles, a_stale_release_lets_nobody_remove_what_is_held) {
    const handle stale = add();
    ASSERT_EQ(table_.acquire(stale), status::ok);
    ASSERT_EQ(table_.release(stale), status::ok);
    ASSERT_EQ(table_.remove(stale), status::ok);
    const handle held = add();
    ASSERT_EQ(held.entry, stale.entry);
    ASSERT_EQ(table_.acquire(held), status::ok);
    std::atomic<bool> stop{false};
    std::thread mistaken([&] {
        while (!stop) ASSERT_EQ(table_.release(stale), status::stale_handle);
    });
    for (int round = 0; round < 300; ++round) {
        ASSERT_EQ(table_.remove(held), status::still_held);
        for (int count = 0; count < 100; ++count) {
            ASSERT_EQ(table_.acquire(held), status::ok);
            ASSERT_EQ(table_.release(held), status::ok);
        }
        ASSERT_EQ(table_.holders(held), 1u);
    }
    stop = true;
    mistaken.join();
    EXPECT_EQ(releases, 1);
    EXPECT_EQ(table_.release(held), status::ok);
    EXPECT_EQ(table_.remove(held), status::ok);
    EXPECT_TRUE(table_.valid());
}

// They are counted at whoever has the entry now, and taken back: a remove() may be refused, which is rare, and no more.
TEST_F(handles, stale_acquires_leave_nothing_behind) {
    const handle stale = add();
    ASSERT_EQ(table_.remove(stale), status::ok);
    std::atomic<bool> stop{false};
    std::thread mistaken([&] {
        while (!stop) ASSERT_EQ(table_.acquire(stale), status::stale_handle);
    });
    int refused = 0;
    for (int round = 0; round < 300'000; ++round) {
        const handle one = add();
        ASSERT_EQ(one.entry, stale.entry);
        while (table_.remove(one) != status::ok) ++refused;
    }
    stop = true;
    mistaken.join();
    EXPECT_LT(refused, 3'000);
    EXPECT_EQ(releases, 300'001);
    EXPECT_TRUE(table_.valid());
}

TEST_F(handles, counts_of_many_threads_add_up) {
    const handle one = add();
    on_threads(4, [&](std::size_t) {
        for (int count = 0; count < 5'000; ++count) ASSERT_EQ(table_.acquire(one), status::ok);
        for (int count = 0; count < 4'000; ++count) ASSERT_EQ(table_.release(one), status::ok);
    });
    EXPECT_EQ(table_.holders(one), 4'000u);
    std::uint32_t holders = 0;
    EXPECT_EQ(table_.remove(one, &holders), status::still_held);
    EXPECT_EQ(holders, 4'000u);
}

TEST_F(handles, threads_that_add_and_others_that_remove_use_entries_again) {
    constexpr int rounds = 200, batch = 100;
    for (int round = 0; round < rounds; ++round) {
        std::vector<handle> made(batch);
        std::thread([&] {
            for (handle& each : made) each = add();
        }).join();
        std::thread([&] {
            for (const handle& each : made) ASSERT_EQ(table_.remove(each), status::ok);
        }).join();
    }
    EXPECT_LT(table_.usage().entry_count, 3'000u) << "of " << rounds * batch << " handles";
    EXPECT_TRUE(table_.valid());
}

TEST_F(handles, listings_go_on_while_handles_come_and_go) {
    static constexpr char kinds[65] = {};
    std::atomic<bool> stop{false};
    std::thread lister([&] {
        while (!stop) {
            table_.for_each_live([&](const tenure::handle_info& info) {
                // What belongs together, whichever of the handles that have had the entry it was.
                const std::size_t bytes = info.which.bytes;
                ASSERT_GE(bytes, 1u);
                ASSERT_LE(bytes, 64u);
                ASSERT_EQ(info.which.pointer, memory_ + (bytes - 1));
                ASSERT_EQ(info.kind, kinds + bytes);
            });
        }
    });
    on_threads(2, [&](std::size_t index) {
        support::random random(index);
        std::vector<handle> mine;
        for (int step = 0; step < 300'000; ++step) {
            if (mine.empty() || (mine.size() < 3 && random.one_in(2))) { // few: their entries change hands all the time
                const std::size_t bytes = 1 + random.below(64);
                mine.push_back(table_.add(memory_ + (bytes - 1), bytes, nullptr, kinds + bytes));
            } else {
                ASSERT_EQ(table_.remove(mine.back()), status::ok);
                mine.pop_back();
            }
        }
        for (const handle& each : mine) ASSERT_EQ(table_.remove(each), status::ok);
    });
    stop = true;
    lister.join();
    EXPECT_EQ(table_.usage().live_count, 0u);
    EXPECT_TRUE(table_.valid());
}

// A listing finds each as soon as it is live, maybe before the thread that adds it knows its handle.
TEST_F(handles, what_a_listing_removes_at_once_is_live_for_nobody) {
    const int handles_made = support::under_sanitizer() ? 1500 : 5000;
    std::atomic<bool> stop{false};
    std::thread lister([&] {
        while (!stop) {
            table_.for_each_live(
                [&](const tenure::handle_info& info) { EXPECT_NE(table_.remove(info.which), status::still_held); });
        }
    });
    for (int count = 1; count <= handles_made; ++count) {
        const handle one = add();
        while (releases != count) std::this_thread::yield();
        if (table_.is_live(one)) ADD_FAILURE() << "handle " << count << " was removed";
    }
    stop = true;
    lister.join();
    EXPECT_EQ(releases, handles_made);
    EXPECT_TRUE(table_.valid());
}

}
