// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/adapt/resource_adaptor.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/arena/arena.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/block_pool.hpp>

#include "adapt/recording_allocator.hpp"
#include "adapt/values.hpp"
#include "support/process.hpp"

namespace {

using adapt::long_text;
using adapt::recording_allocator;
using tenure::resource_adaptor;

static_assert(std::is_base_of_v<std::pmr::memory_resource, resource_adaptor<tenure::arena>>);
static_assert(std::is_nothrow_default_constructible_v<resource_adaptor<tenure::temp_job>>);
static_assert(!std::is_default_constructible_v<resource_adaptor<tenure::arena>>);
static_assert(!std::is_convertible_v<tenure::arena&, resource_adaptor<tenure::arena>>);
static_assert(
    std::is_same_v<decltype(resource_adaptor(std::declval<tenure::arena&>())), resource_adaptor<tenure::arena>>);

class resource_adaptors : public testing::Test {
protected:
    ~resource_adaptors() override {
        EXPECT_EQ(from_.fault(), "");
        EXPECT_EQ(from_.live(), 0u);
    }
    recording_allocator from_;
    resource_adaptor<recording_allocator> resource_{from_};
};

/// Containers in containers: everything lies in the resource, names and all.
void use_all(std::pmr::memory_resource& resource) {
    std::pmr::vector<std::pmr::string> names(&resource);
    std::pmr::map<int, std::pmr::string> by_number(&resource);
    std::pmr::unordered_map<int, int> found(&resource);
    std::pmr::list<int> order(&resource);
    for (int number = 0; number < 500; ++number) {
        names.emplace_back(long_text);
        by_number.emplace(number, long_text);
        found[number] = number;
        order.push_back(number);
    }
    for (int number = 0; number < 500; number += 2) {
        by_number.erase(number);
        found.erase(number);
    }
    names.resize(10);
    names.shrink_to_fit();
    EXPECT_EQ(names.back(), long_text);
    EXPECT_EQ(names.back().get_allocator().resource(), &resource);
    EXPECT_EQ(by_number.at(251), long_text);
    EXPECT_EQ(by_number.at(251).get_allocator().resource(), &resource);
    EXPECT_EQ(found.size(), 250u);
    EXPECT_EQ(order.back(), 499);
}

TEST_F(resource_adaptors, sizes_and_alignments_are_passed_on) {
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void* const block = resource_.allocate(100 + alignment, alignment);
        EXPECT_EQ(from_.last_bytes(), 100 + alignment);
        EXPECT_EQ(from_.last_alignment(), alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
        EXPECT_TRUE(from_.owns(block));
        resource_.deallocate(block, 100 + alignment, alignment);
    }
    void* const block = resource_.allocate(1);
    EXPECT_EQ(from_.last_alignment(), alignof(std::max_align_t));
    resource_.deallocate(block, 1);
}

TEST_F(resource_adaptors, zero_bytes_are_a_block_too) {
    void* const one = resource_.allocate(0, 1);
    void* const two = resource_.allocate(0, 1);
    EXPECT_NE(one, two);
    resource_.deallocate(one, 0, 1);
    resource_.deallocate(two, 0, 1);
}

TEST_F(resource_adaptors, polymorphic_containers_give_everything_back) {
    use_all(resource_);
    EXPECT_GT(from_.requests(), 2000u);
}

TEST_F(resource_adaptors, polymorphic_containers_work_over_each_allocator) {
    tenure::counting_source source(tenure::page_source::process());
    {
        tenure::arena scratch(source);
        resource_adaptor in_arena(scratch);
        use_all(in_arena);
        EXPECT_TRUE(scratch.valid());
        tenure::block_pool blocks(64 * 1024, 16, source);
        resource_adaptor in_blocks(blocks);
        use_all(in_blocks);
        EXPECT_EQ(blocks.size(), 0u);
    }
    EXPECT_EQ(source.live_blocks(), 0u);

    const std::size_t living = tenure::temp_job::stats().live_count;
    resource_adaptor<tenure::temp_job> in_job;
    use_all(in_job);
    EXPECT_EQ(tenure::temp_job::stats().live_count, living);
    support::on_fresh_thread([] {
        const tenure::temp_scope scope;
        resource_adaptor<tenure::temp> in_temp;
        use_all(in_temp);
    });
}

TEST_F(resource_adaptors, a_refusal_is_bad_alloc_and_the_container_keeps_what_it_has) {
    std::pmr::vector<int> numbers({1, 2, 3}, &resource_);
    from_.allow(0);
    EXPECT_THROW(static_cast<void>(resource_.allocate(10)), std::bad_alloc);
    EXPECT_THROW(numbers.resize(100), std::bad_alloc);
    EXPECT_EQ(numbers, (std::pmr::vector<int>{1, 2, 3}));
    from_.allow(1);
    numbers.resize(100);
    EXPECT_EQ(numbers[2], 3);
}

TEST_F(resource_adaptors, what_no_allocator_can_give_is_bad_alloc) {
    tenure::failing_source none(tenure::page_source::process(), 0);
    tenure::arena dry(none);
    resource_adaptor in_arena(dry);
    resource_adaptor<tenure::temp_job> in_job;
    EXPECT_THROW(static_cast<void>(in_arena.allocate(1, 1)), std::bad_alloc);
    for (std::size_t bytes : {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 2}) {
        EXPECT_THROW(static_cast<void>(in_arena.allocate(bytes, 16)), std::bad_alloc) << bytes;
        EXPECT_THROW(static_cast<void>(in_job.allocate(bytes, 16)), std::bad_alloc) << bytes;
        EXPECT_THROW(static_cast<void>(resource_.allocate(bytes, 16)), std::bad_alloc) << bytes;
    }
}

TEST_F(resource_adaptors, only_the_same_object_is_equal) {
    const resource_adaptor again(from_);
    recording_allocator other;
    const resource_adaptor elsewhere(other);
    EXPECT_TRUE(resource_.is_equal(resource_));
    EXPECT_FALSE(resource_.is_equal(again));
    EXPECT_FALSE(resource_.is_equal(elsewhere));
    EXPECT_FALSE(resource_.is_equal(*std::pmr::new_delete_resource()));
    EXPECT_TRUE(static_cast<std::pmr::memory_resource&>(resource_) == resource_);
    EXPECT_TRUE(resource_ != static_cast<const std::pmr::memory_resource&>(again));
}

TEST_F(resource_adaptors, a_move_within_a_resource_keeps_the_blocks_and_between_two_moves_the_elements) {
    recording_allocator right;
    resource_adaptor there(right);
    {
        std::pmr::vector<int> one({1, 2, 3}, &resource_);
        const int* const place = one.data();
        std::pmr::vector<int> two(&resource_);
        two = std::move(one);
        EXPECT_EQ(two.data(), place);
        std::pmr::vector<int> three(&there);
        three = std::move(two);
        EXPECT_TRUE(right.owns(three.data()));
        EXPECT_EQ(three, (std::pmr::vector<int>{1, 2, 3}));
        std::pmr::vector<int> four({4, 5}, &there);
        four.swap(three);
        EXPECT_EQ(four.size(), 3u);
    }
    EXPECT_EQ(right.live(), 0u);
    EXPECT_EQ(right.fault(), "");
}

TEST_F(resource_adaptors, the_standards_own_resources_build_upon_it) {
    {
        std::pmr::monotonic_buffer_resource bump(256, &resource_);
        use_all(bump);
        EXPECT_GT(from_.live(), 0u);
    }
    EXPECT_EQ(from_.live(), 0u);
    std::pmr::unsynchronized_pool_resource pools(&resource_);
    use_all(pools);
    EXPECT_GT(from_.live(), 0u);
    pools.release();
    tenure::arena scratch;
    resource_adaptor in_arena(scratch);
    std::pmr::unsynchronized_pool_resource over_arena(&in_arena);
    use_all(over_arena);
}

}
