// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

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

#include <tenure/affinity/affinities.hpp>
#include <tenure/affinity/affinity_group.hpp>

#include "affinity/fixture.hpp"
#include "support/random.hpp"

namespace {

using namespace affinity_tests;
using tenure::page_layout;
using tenure::size_on_free;

constexpr int thread_count = 4;

template<class Work>
void on_threads(int count, Work work) {
    std::vector<std::thread> threads;
    for (int index = 0; index < count; ++index) threads.emplace_back([&work, index] { work(index); });
    for (std::thread& each : threads) each.join();
}

/// Objects on their way from one thread to another.
class mailbox {
public:
    void put(object sent) {
        const std::lock_guard lock(mutex_);
        objects_.push_back(sent);
    }
    bool get(object& received) {
        const std::lock_guard lock(mutex_);
        if (objects_.empty()) return false;
        received = objects_.front();
        objects_.pop_front();
        return true;
    }

private:
    std::mutex mutex_;
    std::deque<object> objects_;
};

unsigned char stamp_of(const object& which) {
    return static_cast<unsigned char>(tenure::address_of(which.at) / 8 * 31 + which.bytes);
}
object stamped(affinity_group& group, support::random& numbers) {
    const std::size_t bytes = numbers.one_in(300) ? 20'000 : numbers.between(1, numbers.one_in(10) ? 3000 : 200);
    const std::size_t alignment = numbers.one_in(10) ? 64 : 1;
    const object made{static_cast<unsigned char*>(group.allocate(bytes, alignment)), bytes, alignment};
    if (made.at != nullptr) std::memset(made.at, stamp_of(made), bytes);
    return made;
}
bool is_stamped(const object& which) {
    for (std::size_t index = 0; index < which.bytes; ++index)
        if (which.at[index] != stamp_of(which)) return false;
    return true;
}
void release(affinity_group& group, const object& gone, bool names_size) {
    names_size ? group.deallocate(gone.at, gone.bytes, gone.alignment) : group.deallocate(gone.at);
}

class affinity_threads : public groups, public testing::WithParamInterface<affinity_options> {
protected:
    [[nodiscard]] static bool must_name() { return GetParam().sizes == size_on_free::required; }
};

std::vector<affinity_options> shared_options() {
    std::vector<affinity_options> all = every_option({4, 8, 16});
    std::erase_if(
        all, [](const affinity_options& each) { return each.block_bytes > mebibyte && each.max_retained_bytes == 0; });
    for (affinity_options& each : all) each.threads = tenure::sharing::any_thread;
    return all;
}
INSTANTIATE_TEST_SUITE_P(options, affinity_threads, testing::ValuesIn(shared_options()),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(affinity_threads, free_each_others_objects) {
    affinity_group group("shared", GetParam(), source_);
    std::array<mailbox, thread_count> boxes;
    std::atomic<std::size_t> faults{0};
    on_threads(thread_count, [&](int index) {
        support::random numbers(static_cast<std::uint64_t>(index) + 1);
        for (int round = 0; round < 4000; ++round) {
            const object made = stamped(group, numbers);
            if (made.at == nullptr) ++faults;
            boxes[numbers.below(thread_count)].put(made);
            for (std::size_t left = numbers.below(3); left != 0; --left) {
                object received;
                if (!boxes[static_cast<std::size_t>(index)].get(received)) break;
                faults += std::size_t{!is_stamped(received)};
                release(group, received, must_name() || numbers.one_in(2));
            }
        }
    });
    EXPECT_EQ(faults, 0u);
    EXPECT_TRUE(group.valid());
    std::size_t waiting = 0;
    for (mailbox& each : boxes) {
        for (object received; each.get(received); ++waiting) {
            ASSERT_TRUE(is_stamped(received));
            release(group, received, true);
        }
    }
    EXPECT_GT(waiting, 0u);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_TRUE(group.valid());
    group.trim();
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_P(affinity_threads, what_a_thread_keeps_comes_back_when_it_ends) {
    affinity_group group("shared", GetParam(), source_);
    std::vector<object> kept(200);
    std::size_t blocks_early = 0;
    for (int round = 0; round < 150; ++round) {
        on_threads(2, [&](int index) {
            std::array<object, 100> objects;
            for (object& each : objects) each = {static_cast<unsigned char*>(group.allocate(48)), 48, 1};
            for (std::size_t number = 1; number < objects.size(); ++number) release(group, objects[number], true);
            kept[static_cast<std::size_t>(100 * index + round % 100)] = objects[0];
        });
        if (round == 20) blocks_early = source_.live_blocks();
        if (round % 100 != 99) continue;
        EXPECT_EQ(group.size(), 200u);
        for (const object& each : kept) release(group, each, true); // their threads are gone
    }
    EXPECT_EQ(group.size(), 100u);
    EXPECT_LE(source_.live_blocks(), blocks_early + 1) << "nothing of an ended thread is lost";
    EXPECT_TRUE(group.valid());
    group.clear();
    EXPECT_EQ(group.size(), 0u);
}

TEST_P(affinity_threads, the_size_and_the_figures_may_be_asked_for_meanwhile) {
    affinity_group group("shared", GetParam(), source_);
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> faults{0};
    std::thread asking([&] {
        while (!stop) {
            const tenure::allocator_stats seen = group.stats();
            faults += std::size_t{group.size() > 10'000} + std::size_t{seen.live_count > 10'000};
            faults += std::size_t{seen.source_blocks < 1 && seen.live_count > 5000};
            faults += std::size_t{group.owns(&group)};
            std::this_thread::yield();
        }
    });
    on_threads(thread_count, [&](int index) {
        support::random numbers(static_cast<std::uint64_t>(index) + 1);
        std::vector<object> objects;
        for (int round = 0; round < 15; ++round) {
            for (int count = 0; count < 300; ++count) objects.push_back(stamped(group, numbers));
            for (const object& each : objects) {
                faults += std::size_t{!group.owns(each.at)};
                release(group, each, true);
            }
            objects.clear();
        }
    });
    stop = true;
    asking.join();
    EXPECT_EQ(faults, 0u);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_TRUE(group.valid());
}

/// A free that leaves the size out looks where the next object begins. Here that is what another thread takes and
/// gives back all the time: the place right behind.
TEST(affinity_threads_beside, a_free_without_the_size_takes_the_size_of_its_own_object_only) {
    affinity_group group("beside", {.alignment = 8, .threads = tenure::sharing::any_thread});
    std::size_t faults = 0;
    constexpr std::size_t count = 400; // of each in a page, about
    for (int round = 0; round < 300; ++round) {
        std::vector<unsigned char*> lower(count), upper(count), spare(count);
        on_threads(1, [&](int) { // which ends, so that its pages are anybody's
            for (std::size_t index = 0; index < count; ++index) {
                for (auto* all : {&lower, &upper, &spare})
                    (*all)[index] = static_cast<unsigned char*>(group.allocate(48));
            }
        });
        for (unsigned char* each : upper) group.deallocate(each, 48);
        group.deallocate(group.allocate(16'000), 16'000); // the run that was freed last goes into the bits
        std::atomic<std::size_t> turn{0};
        std::atomic<bool> is_ready{false};
        std::thread taker([&] {
            group.deallocate(group.allocate(600), 600);
            is_ready = true;
            for (std::size_t index = 0; index < count; ++index) {
                turn.store(index + 1, std::memory_order_relaxed);
                upper[index] = static_cast<unsigned char*>(group.allocate(48)); // right behind what is freed now
                std::memset(upper[index], 0x55, 48);
            }
        });
        while (!is_ready) {}
        for (std::size_t index = 0; index < count; ++index) {
            while (turn.load(std::memory_order_relaxed) <= index) {}
            group.deallocate(lower[index]);
        }
        taker.join();
        EXPECT_EQ(group.size(), 2 * count);
        EXPECT_EQ(group.usage().reserved_bytes, 2 * count * (48 + tenure::detail::tail_guard_bytes))
            << "no free took more than its own";
        for (unsigned char*& each : lower) {
            each = static_cast<unsigned char*>(group.allocate(48));
            std::memset(each, 0xAA, 48);
        }
        for (const unsigned char* each : upper)
            for (std::size_t index = 0; index < 48; ++index) faults += std::size_t{each[index] != 0x55};
        ASSERT_EQ(faults, 0u);
        ASSERT_TRUE(group.valid());
        group.clear();
    }
}

TEST(affinity_threads_end, a_group_may_end_while_threads_that_used_it_live_on) {
    std::optional<affinity_group> group;
    std::atomic<int> turn{0}, done{0};
    constexpr int rounds = 30;
    std::thread driver([&] {
        for (int round = 0; round < rounds; ++round) {
            group.emplace("short", affinity_options{.threads = tenure::sharing::any_thread});
            done = 0;
            turn = 2 * round + 1;
            while (done != thread_count) std::this_thread::yield();
            EXPECT_EQ(group->size(), static_cast<std::size_t>(thread_count));
            group.reset(); // the next one gets its place in the table
        }
    });
    on_threads(thread_count, [&](int) {
        for (int round = 0; round < rounds; ++round) {
            while (turn < 2 * round + 1) std::this_thread::yield();
            std::array<void*, 300> objects;
            for (void*& each : objects) each = group->allocate(56);
            for (void* each : objects) std::memset(each, round, 56);
            for (std::size_t number = 1; number < objects.size(); ++number) group->deallocate(objects[number], 56);
            ++done;
            while (turn == 2 * round + 1 && done != thread_count) std::this_thread::yield();
        }
    });
    driver.join();
}

TEST(affinity_threads_end, a_group_may_end_while_threads_that_used_it_end) {
    for (int round = 0; round < 100; ++round) {
        auto group =
            std::make_unique<affinity_group>("short", affinity_options{.threads = tenure::sharing::any_thread});
        std::atomic<int> used{0};
        std::vector<std::thread> threads;
        for (int index = 0; index < thread_count; ++index) {
            threads.emplace_back([&] {
                for (const std::size_t bytes : {std::size_t{56}, std::size_t{20'000}}) {
                    void* const object = group->allocate(bytes);
                    EXPECT_NE(object, nullptr);
                    group->deallocate(object);
                }
                ++used;
            });
        }
        while (used != thread_count) std::this_thread::yield();
        EXPECT_EQ(group->size(), 0U);
        group.reset();
        for (std::thread& each : threads) each.join();
    }
}

struct late_object {
    void* held = tenure::affinities::data().allocate(64);
    ~late_object() {
        tenure::affinities::data().deallocate(held);
        void* const late = tenure::affinities::data().allocate(64);
        std::memset(late, 1, 64);
        tenure::affinities::data().deallocate(late, 64);
    }
};

TEST(affinity_threads_end, destructors_of_thread_local_objects_may_allocate_and_free) {
    const std::size_t before = tenure::affinities::data().size();
    for (int round = 0; round < 100; ++round) {
        on_threads(2, [](int) {
            thread_local late_object object;
            std::memset(object.held, 1, 64);
        });
    }
    EXPECT_EQ(tenure::affinities::data().size(), before);
    EXPECT_TRUE(tenure::affinities::data().valid());
}

struct visited : tenure::affinity_object<tenure::affinities::nodes> {
    std::array<unsigned char, 50> bytes{};
};

TEST(affinities_threads, the_ready_made_groups_serve_them_from_the_first_call_on) {
    std::array<affinity_group*, thread_count> physics{};
    std::vector<std::unique_ptr<visited>> left[thread_count];
    const std::size_t before = tenure::affinities::nodes().size();
    on_threads(thread_count, [&](int index) {
        physics[static_cast<std::size_t>(index)] = &tenure::affinities::physics();
        auto& made = left[index];
        for (int round = 0; round < 20; ++round) {
            for (int count = 0; count < 100; ++count) made.emplace_back(new visited)->bytes.fill(1);
            made.resize(50);
        }
    });
    for (const affinity_group* each : physics) EXPECT_EQ(each, physics[0]) << "one group, whoever asked first";
    EXPECT_EQ(tenure::affinities::nodes().size(), before + 50 * thread_count);
    on_threads(thread_count, [&](int index) { left[(index + 1) % thread_count].clear(); });
    EXPECT_EQ(tenure::affinities::nodes().size(), before);
    EXPECT_TRUE(tenure::affinities::nodes().valid());
}

}
