// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What the child of a fork finds of a shared pool that other threads were using. All allocators at work at once:
// conformance/fork_thread_test.cpp.

#include <tenure/pool/shared_block_pool.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/pool/small_object.hpp>

#include "support/child.hpp"
#include "support/process.hpp"

namespace {

using tenure::shared_block_pool;

struct shared_pool_child : testing::Test {
    void SetUp() override {
        if (support::under_thread_sanitizer()) GTEST_SKIP() << "ThreadSanitizer follows no threads of a forked child";
    }
    /// Leaves 200 blocks in use and 100 in the calling thread's cache.
    void use(shared_block_pool& pool) {
        for (int each = 0; each < 300; ++each) alive.push_back(pool.allocate());
        for (int each = 0; each < 100; ++each) {
            last_freed = alive.back();
            pool.deallocate(last_freed);
            alive.pop_back();
        }
    }
    std::vector<void*> alive;
    void* last_freed = nullptr;
};

TEST_F(shared_pool_child, hands_a_cache_that_nobody_has_to_its_next_thread) {
    shared_block_pool pool(64);
    const support::waiting_thread other([&] { use(pool); });
    const int answer = support::answer_of_child([&] {
        const bool is_same = pool.size() == alive.size();
        bool is_theirs = tenure::checks::caller, are_distinct = false;
        support::on_fresh_thread([&] {
            std::vector<void*> blocks;
            for (int each = 0; each < 1000; ++each) blocks.push_back(pool.allocate());
            is_theirs = is_theirs || blocks.front() == last_freed;
            blocks.insert(blocks.end(), alive.begin(), alive.end());
            std::sort(blocks.begin(), blocks.end());
            are_distinct = std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end();
            for (void* const block : blocks) pool.deallocate(block);
        });
        const bool is_empty = pool.size() == 0 && pool.valid();
        return (is_same ? 0 : 1) + (is_theirs ? 0 : 2) + (are_distinct ? 0 : 4) + (is_empty ? 0 : 8);
    });
    EXPECT_EQ(answer, 0);
    EXPECT_EQ(pool.size(), alive.size());
}

TEST_F(shared_pool_child, gives_back_what_caches_that_nobody_has_hold) {
    shared_block_pool pool(64);
    const support::waiting_thread other([&] { use(pool); });
    pool.deallocate(pool.allocate()); // the child's own cache
    const int answer = support::answer_of_child([&] {
        int seen = 0;
        pool.for_each([&](void*) { ++seen; });
        const bool sees_living = static_cast<std::size_t>(seen) == alive.size();
        for (void* const block : alive) pool.deallocate(block);
        static_cast<void>(pool.trim());
        const bool is_given_back = pool.stats().reserved_bytes == 0;
        return (sees_living ? 0 : 1) + (is_given_back ? 0 : 2) + (pool.valid() ? 0 : 4);
    });
    EXPECT_EQ(answer, 0);
}

TEST_F(shared_pool_child, does_not_look_for_a_pool_whose_object_was_unmapped) {
    constexpr std::size_t bytes = 4096;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto& pool = *::new (memory) shared_block_pool(64);
    {
        const support::waiting_thread other([&] { use(pool); });
        ::munmap(memory, bytes); // as when a plug-in is unloaded that never destroys its pool
        EXPECT_EQ(support::answer_of_child([] { return 1; }), 1);
    } // its thread ends
    EXPECT_EQ(support::answer_of_child([] { return 1; }), 1);
}

TEST_F(shared_pool_child, forks_again_with_threads_of_its_own) {
    shared_block_pool pool(64);
    const support::waiting_thread other([&] { use(pool); });
    const int answer = support::answer_of_child([&] {
        const support::waiting_thread second([&] { use(pool); });
        return support::answer_of_child([&] {
            const bool is_same = pool.size() == alive.size();
            for (void* const block : alive) pool.deallocate(block);
            return (is_same ? 0 : 1) + (pool.size() == 0 && pool.valid() ? 0 : 2);
        });
    });
    EXPECT_EQ(answer, 0);
}

struct node : tenure::small_object {
    std::uint64_t words[5] = {};
};

TEST_F(shared_pool_child, deletes_small_objects_of_threads_that_it_does_not_have) {
    std::vector<std::unique_ptr<node>> made;
    const std::size_t before = tenure::small_object::stats().live_count;
    const support::waiting_thread other([&] {
        for (int each = 0; each < 300; ++each) made.push_back(std::make_unique<node>());
        made.resize(200);
    });
    const int answer = support::answer_of_child([&] {
        const bool is_same = tenure::small_object::stats().live_count == before + 200;
        support::on_fresh_thread([&] { made.resize(100); });
        for (int each = 0; each < 300; ++each) made.push_back(std::make_unique<node>());
        made.clear();
        return (is_same ? 0 : 1) + (tenure::small_object::stats().live_count == before ? 0 : 2);
    });
    EXPECT_EQ(answer, 0);
}

}
