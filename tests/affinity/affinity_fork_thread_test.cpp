// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What the child of a fork finds of a group that other threads were using. All allocators at work at once:
// conformance/fork_thread_test.cpp.

#include <tenure/affinity/affinity_group.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "affinity/fixture.hpp"
#include "support/child.hpp"
#include "support/process.hpp"

namespace {

using tenure::affinity_group;
using tenure::affinity_options;

constexpr std::size_t object_bytes = 40, large_bytes = 100'000;

class group_child : public testing::TestWithParam<affinity_options> {
protected:
    void SetUp() override {
        if (support::under_thread_sanitizer()) GTEST_SKIP() << "ThreadSanitizer follows no threads of a forked child";
    }
    /// Leaves objects in use, an extent that is begun, and runs of freed objects whose bits are not set.
    void use() {
        for (int each = 0; each < 5000; ++each) alive.push_back(group.allocate(object_bytes));
        large = group.allocate(large_bytes);
        for (std::size_t each : {4990u, 4991u, 4000u, 4001u, 100u}) {
            group.deallocate(alive[each], object_bytes);
            alive[each] = nullptr;
        }
        std::erase(alive, nullptr);
    }
    std::vector<void*> alive;
    void* large = nullptr;
    affinity_group group{"of a fork", GetParam()};
};

INSTANTIATE_TEST_SUITE_P(forms, group_child,
                         testing::Values(affinity_options{.threads = tenure::sharing::any_thread},
                                         affinity_options{.sizes = tenure::size_on_free::required,
                                                          .layout = tenure::page_layout::by_size,
                                                          .threads = tenure::sharing::any_thread}),
                         [](const auto& each) { return affinity_tests::name_of(each.param); });

TEST_P(group_child, counts_as_its_parent_does_and_gives_everything_back) {
    const support::waiting_thread other([&] { use(); });
    const int answer = support::answer_of_child([&] {
        const bool is_same = group.size() == alive.size() + 1;
        const bool is_sound = group.valid();
        for (void* const object : alive) group.deallocate(object, object_bytes);
        group.deallocate(large, large_bytes);
        const bool is_empty = group.size() == 0;
        static_cast<void>(group.trim());
        const bool is_given_back = group.stats().reserved_bytes == 0 && group.valid();
        return (is_same ? 0 : 1) + (is_sound ? 0 : 2) + (is_empty ? 0 : 4) + (is_given_back ? 0 : 8);
    });
    EXPECT_EQ(answer, 0);
}

TEST_P(group_child, hands_out_what_threads_that_it_does_not_have_left_free) {
    const support::waiting_thread other([&] { use(); });
    const int answer = support::answer_of_child([&] {
        bool are_distinct = false, is_small = false;
        support::on_fresh_thread([&] {
            const std::size_t before = group.stats().reserved_bytes;
            std::vector<void*> objects = alive;
            for (int each = 0; each < 5000; ++each) {
                objects.push_back(group.allocate(object_bytes));
                std::memset(objects.back(), 1, object_bytes);
            }
            is_small = group.stats().reserved_bytes == before;
            std::sort(objects.begin(), objects.end());
            are_distinct = std::adjacent_find(objects.begin(), objects.end(), [](void* left, void* right) {
                               return static_cast<char*>(left) + object_bytes > static_cast<char*>(right);
                           }) == objects.end();
            for (void* const object : objects) group.deallocate(object, object_bytes);
        });
        const bool is_good = group.size() == 1 && group.valid();
        return (are_distinct ? 0 : 1) + (is_small ? 0 : 2) + (is_good ? 0 : 4);
    });
    EXPECT_EQ(answer, 0);
}

TEST_P(group_child, may_clear_the_group) {
    const support::waiting_thread other([&] { use(); });
    const int answer = support::answer_of_child([&] {
        group.clear();
        const bool is_empty = group.size() == 0 && group.valid();
        void* const object = group.allocate(object_bytes);
        const bool is_good = object != nullptr && group.size() == 1 && group.valid();
        return (is_empty ? 0 : 1) + (is_good ? 0 : 2);
    });
    EXPECT_EQ(answer, 0);
}

/// The group asks it while it is made. It then lets another thread fork, and waits a while for the child.
class asked_source final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return tenure::page_source::process().acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
    [[nodiscard]] std::size_t max_bytes() const noexcept override {
        if (is_watched) {
            is_asked = true;
            is_asked.notify_all();
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
            while (!has_forked && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        }
        return tenure::max_object_bytes;
    }
    mutable std::atomic<bool> is_watched{false}, is_asked{false}, has_forked{false};
};

TEST(group_while_configured, is_whole_in_a_child_of_that_moment) {
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "ThreadSanitizer follows no threads of a forked child";
    asked_source source;
    affinity_group group("configured", {.threads = tenure::sharing::any_thread}, source);
    int answer = -1;
    std::thread forking([&] {
        source.is_asked.wait(false);
        answer = support::answer_of_child([&] {
            source.is_watched = false;
            const bool is_new = group.alignment() == 64;
            const auto* const first = static_cast<unsigned char*>(group.allocate(40));
            const auto* const second = static_cast<unsigned char*>(group.allocate(40));
            const bool is_placed = first != nullptr && second == first + 64;
            return (is_new ? 0 : 1) + (is_placed ? 0 : 2) + (group.valid() ? 0 : 4);
        });
        source.has_forked = true;
    });
    source.is_watched = true;
    EXPECT_TRUE(group.configure({.alignment = 64}, source));
    forking.join();
    EXPECT_EQ(answer, 0);
}

}
