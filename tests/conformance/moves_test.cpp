// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <barrier>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/offset/offset_allocator.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_pool.hpp>

namespace {

template<class Owner>
constexpr bool moves = std::is_nothrow_move_constructible_v<Owner>&& std::is_nothrow_move_assignable_v<Owner> &&
                       !std::is_copy_constructible_v<Owner> && !std::is_copy_assignable_v<Owner>;
static_assert(moves<tenure::arena> && moves<tenure::block_pool> && moves<tenure::pool<std::string>> &&
              moves<tenure::shared_block_pool> && moves<tenure::shared_pool<std::string>> && moves<tenure::heap> &&
              moves<tenure::offset_allocator> && moves<tenure::affinity_group>);

struct monster {
    static inline int alive = 0;
    int health;
    explicit monster(int of) : health(of) { ++alive; }
    ~monster() { --alive; }
};

struct level {
    tenure::pool<monster> monsters;
    tenure::shared_pool<monster> visitors;
    tenure::arena geometry;
    tenure::heap sounds;
};

TEST(moves, a_level_of_owners_lives_in_a_vector) {
    std::vector<level> levels;
    std::vector<monster*> first_of;
    for (int index = 0; index < 20; ++index) { // several reallocations of the vector
        level& made = levels.emplace_back();
        first_of.push_back(made.monsters.construct(index));
        ASSERT_NE(made.visitors.construct(100 + index), nullptr);
        ASSERT_NE(made.geometry.allocate(100), nullptr);
        ASSERT_NE(made.sounds.allocate(100), nullptr);
    }
    levels.erase(levels.begin() + 3); // by assignment
    first_of.erase(first_of.begin() + 3);
    EXPECT_EQ(monster::alive, 2 * 19);
    for (std::size_t index = 0; index < levels.size(); ++index) {
        level& each = levels[index];
        EXPECT_EQ(&*each.monsters.begin(), first_of[index]) << "objects stay where they are";
        EXPECT_TRUE(each.monsters.owns(first_of[index]));
        EXPECT_EQ(each.visitors.size(), 1u);
        EXPECT_EQ(each.visitors.begin()->health, 100 + first_of[index]->health);
        EXPECT_EQ(each.geometry.stats().live_bytes, 100u);
        EXPECT_EQ(each.sounds.stats().live_count, 1u);
        EXPECT_TRUE(each.monsters.valid() && each.visitors.valid() && each.geometry.valid() && each.sounds.valid());
        each.monsters.destroy(first_of[index]);
        EXPECT_TRUE(each.monsters.empty());
    }
    levels.clear();
    EXPECT_EQ(monster::alive, 0);
}

TEST(moves, a_pool_goes_on_where_the_other_was_and_leaves_it_empty_and_usable) {
    const bool is_passthrough = tenure::passthrough_enabled(tenure::part::pool);
    tenure::counting_source source(tenure::page_source::process());
    {
        tenure::pool<monster> from(source);
        std::vector<monster*> all;
        for (int index = 0; index < 1000; ++index) all.push_back(from.construct(index));
        for (int index = 0; index < 1000; index += 3) from.destroy(all[static_cast<std::size_t>(index)]);
        const std::size_t held = from.size();
        tenure::pool<monster> to(std::move(from));
        EXPECT_EQ(to.size(), held);
        EXPECT_EQ(from.size(), 0u); // NOLINT(bugprone-use-after-move): its card says so
        EXPECT_TRUE(to.valid() && from.valid());
        for (int index = 0; index < 334; ++index) ASSERT_TRUE(to.owns(to.construct(index))); // the freed ones
        EXPECT_EQ(source.live_blocks(), is_passthrough ? 0u : 1u);
        monster* const other = from.construct(5);
        EXPECT_FALSE(to.owns(other));
        EXPECT_EQ(source.live_blocks(), is_passthrough ? 0u : 2u);
        to = std::move(from); // destroys what it had
        EXPECT_EQ(monster::alive, 1);
        EXPECT_EQ(source.live_blocks(), is_passthrough ? 0u : 1u);
        to.destroy(other);
    }
    EXPECT_EQ(source.live_blocks(), 0u);
    EXPECT_EQ(monster::alive, 0);
}

TEST(moves, both_pools_keep_the_size_of_their_blocks) {
    tenure::block_pool from(48);
    void* const block = from.allocate();
    tenure::block_pool to(std::move(from));
    EXPECT_EQ(to.block_bytes(), 48u);
    EXPECT_EQ(from.block_bytes(), 48u); // NOLINT(bugprone-use-after-move): its card says so
    void* const other = from.allocate();
    std::memset(block, 1, 48);
    std::memset(other, 2, 48);
    to.deallocate(block);
    from.deallocate(other);
    EXPECT_TRUE(to.valid() && from.valid());
}

TEST(moves, the_caches_of_a_shared_pool_and_of_a_heap_move_along) {
    tenure::shared_block_pool from(64);
    void* const block = from.allocate();
    from.deallocate(block); // into the cache of this thread
    tenure::shared_block_pool to(std::move(from));
    void* const again = to.allocate();
    // A malloc under passthrough chooses another block as it likes.
    EXPECT_TRUE(again == block || tenure::passthrough_enabled(tenure::part::pool));
    EXPECT_EQ(from.allocate(), nullptr); // NOLINT(bugprone-use-after-move): its card says so
    EXPECT_EQ(from.size(), 0u);
    EXPECT_TRUE(from.valid());
    EXPECT_FALSE(from.is_usable());
    from = std::move(to);
    EXPECT_TRUE(from.is_usable());
    EXPECT_EQ(from.size(), 1u);
    from.deallocate(again);

    tenure::heap first({.name = "first"});
    void* const small = first.allocate(100);
    void* const large = first.allocate(1 << 20);
    tenure::heap second(std::move(first));
    EXPECT_EQ(first.allocate(8), nullptr); // NOLINT(bugprone-use-after-move)
    EXPECT_FALSE(first.is_usable());
    EXPECT_EQ(first.stats().live_count, 0u);
    EXPECT_EQ(first.trim(), 0u);
    EXPECT_EQ(second.usage().name, "first");
    EXPECT_TRUE(second.owns(small) && second.owns(large) && !first.owns(small));
    second.deallocate(small);
    second.deallocate(large);
    EXPECT_EQ(second.stats().live_count, 0u);
    first = tenure::heap({.name = "third"});
    EXPECT_NE(first.allocate(8), nullptr);
    int found = 0;
    tenure::heap::for_each_usage([&](const tenure::heap_usage& each) { found += each.name == "third" ? 1 : 0; });
    EXPECT_EQ(found, 1);
}

TEST(moves, an_arena_takes_its_markers_along) {
    tenure::counting_source source(tenure::page_source::process());
    tenure::arena from(1024, source);
    void* const kept = from.allocate(500);
    const tenure::arena::marker here = from.mark();
    for (int count = 0; count < 100; ++count) ASSERT_NE(from.allocate(500), nullptr);
    tenure::arena to(std::move(from));
    EXPECT_TRUE(to.valid() && from.valid()); // NOLINT(bugprone-use-after-move): its card says so
    EXPECT_EQ(from.stats().live_bytes, 0u);
    to.rewind(here);
    EXPECT_EQ(to.stats().live_bytes, 500u);
    EXPECT_TRUE(to.owns(kept));
    EXPECT_NE(from.allocate(10), nullptr);
    from = std::move(to);
    EXPECT_TRUE(from.owns(kept));
}

void move_a_group(tenure::affinity_options options) {
    tenure::counting_source source(tenure::page_source::process());
    {
        tenure::affinity_group from("moved", options, source);
        std::vector<void*> all;
        for (std::size_t index = 0; index < 1000; ++index) all.push_back(from.allocate(8 + index % 60 * 8, 8));
        void* const large = from.allocate(1 << 20);
        for (std::size_t index = 0; index < 1000; index += 2) from.deallocate(all[index], 8 + index % 60 * 8, 8);
        const std::size_t blocks = source.live_blocks();
        tenure::affinity_group to(std::move(from));
        EXPECT_EQ(to.size(), 501u);
        EXPECT_EQ(from.size(), 0u); // NOLINT(bugprone-use-after-move): its card says so
        EXPECT_TRUE(to.owns(all[1]) && to.owns(large));
        EXPECT_FALSE(from.owns(all[1]) || from.owns(large));
        EXPECT_TRUE(to.valid() && from.valid());
        EXPECT_EQ(source.live_blocks(), blocks);
        for (std::size_t index = 1; index < 1000; index += 2) to.deallocate(all[index], 8 + index % 60 * 8, 8);
        to.deallocate(large, 1 << 20);
        EXPECT_EQ(to.size(), 0u);
        EXPECT_TRUE(to.valid());
        void* const other = from.allocate(100);
        EXPECT_TRUE(from.owns(other));
        to = std::move(from);
        EXPECT_TRUE(to.owns(other));
        EXPECT_EQ(to.size(), 1u);
        EXPECT_EQ(to.name(), "moved");
    }
    EXPECT_EQ(source.live_blocks(), 0u);
}

TEST(moves, a_group_keeps_its_objects_and_the_other_is_empty_and_usable) {
    move_a_group({});
    move_a_group({.layout = tenure::page_layout::by_size});
    move_a_group({.sizes = tenure::size_on_free::required});
    move_a_group({.threads = tenure::sharing::any_thread});
}

TEST(moves, threads_of_a_shared_group_keep_their_memory_and_may_end_afterwards) {
    tenure::affinity_group from("moved", {.threads = tenure::sharing::any_thread});
    std::vector<tenure::affinity_group> home;
    std::barrier moved(2);
    std::thread other([&] {
        for (int count = 0; count < 100; ++count) ASSERT_NE(from.allocate(64), nullptr);
        moved.arrive_and_wait();
        moved.arrive_and_wait();
        for (int count = 0; count < 100; ++count) ASSERT_NE(home.back().allocate(64), nullptr);
    });
    moved.arrive_and_wait();
    home.push_back(std::move(from));
    moved.arrive_and_wait();
    other.join();
    EXPECT_EQ(home.back().size(), 200u);
    EXPECT_EQ(from.size(), 0u); // NOLINT(bugprone-use-after-move): its card says so
    EXPECT_TRUE(home.back().valid());
}

TEST(moves, an_offset_allocator_keeps_its_ranges) {
    tenure::offset_allocator from(1000);
    const tenure::offset_range first = from.allocate(100), second = from.allocate(200);
    from.deallocate(first);
    tenure::offset_allocator to(std::move(from));
    EXPECT_TRUE(to.valid() && from.valid()); // NOLINT(bugprone-use-after-move): its card says so
    EXPECT_EQ(to.size_of(second), 200u);
    EXPECT_EQ(from.capacity(), 1000u);
    EXPECT_EQ(from.allocate(1000).offset, 0u);
    to.deallocate(second);
    EXPECT_EQ(to.usage().largest_free, 1000u);
}

}
