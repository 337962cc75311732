// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>

#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using tenure::report_kind;

template<class Pool>
class pool_death : public testing::Test {
protected:
    pool_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    static void touch(void* block) { static_cast<volatile unsigned char*>(block)[0] = 1; }

    Pool pool_{40, 8};
};

using pools = testing::Types<tenure::block_pool, tenure::shared_block_pool>;
TYPED_TEST_SUITE(pool_death, pools);

TYPED_TEST(pool_death, a_double_free_is_reported_at_once) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto& pool = this->pool_;
    void* const block = pool.allocate();
    void* const other = pool.allocate();
    pool.deallocate(block);
    EXPECT_DEATH(pool.deallocate(block), "a pool block was freed twice: 0x.* second owner");
    pool.deallocate(other);
    EXPECT_DEATH(pool.deallocate(block), "freed twice");
    EXPECT_DEATH(pool.deallocate(other), "freed twice");
}

TYPED_TEST(pool_death, a_block_that_was_never_handed_out_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto& pool = this->pool_;
    auto* const block = static_cast<unsigned char*>(pool.allocate());
    constexpr std::size_t stride = 40 + 16;
    EXPECT_DEATH(pool.deallocate(block + stride), "freed twice") << "it waits in the group";
    EXPECT_DEATH(pool.deallocate(block + stride * 1000), "not the start of a block");
}

TYPED_TEST(pool_death, a_foreign_pointer_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto& pool = this->pool_;
    TypeParam other(40, 8);
    static_cast<void>(pool.allocate());
    void* const foreign = other.allocate();
    int local = 0;
    EXPECT_DEATH(pool.deallocate(foreign), "a pointer that it does not own");
    EXPECT_DEATH(pool.deallocate(&local), "a pointer that it does not own");
    EXPECT_DEATH(pool.deallocate(this), "a pointer that it does not own");
}

TYPED_TEST(pool_death, a_pointer_into_a_block_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto& pool = this->pool_;
    auto* const block = static_cast<unsigned char*>(pool.allocate());
    for (std::size_t offset : {1u, 8u, 39u})
        EXPECT_DEATH(pool.deallocate(block + offset), "not the start of a block") << offset;
}

TYPED_TEST(pool_death, a_free_after_clear_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto& pool = this->pool_;
    void* const block = pool.allocate();
    pool.clear();
    EXPECT_DEATH(pool.deallocate(block), "a pool ");
}

TYPED_TEST(pool_death, after_a_handler_that_returns_the_pool_is_as_it_was) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto& pool = this->pool_;
    auto* const kept = static_cast<unsigned char*>(pool.allocate());
    void* const freed = pool.allocate();
    std::memset(kept, 5, 40);
    pool.deallocate(freed);
    const support::heard_reports heard;
    pool.deallocate(freed);
    pool.deallocate(kept + 8);
    pool.deallocate(this);
    EXPECT_EQ(heard.count(report_kind::misuse), 3u);
    EXPECT_EQ(pool.size(), 1u);
    EXPECT_TRUE(pool.valid());
    EXPECT_EQ(kept[39], 5);
    pool.deallocate(kept);
    EXPECT_EQ(heard.count(), 3u);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
}

TYPED_TEST(pool_death, a_use_after_free_or_clear_is_seen_by_address_sanitizer) {
    if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    auto& pool = this->pool_;
    void* const freed = pool.allocate();
    void* const kept = pool.allocate();
    pool.deallocate(freed);
    EXPECT_DEATH(this->touch(freed), "use-after-poison");
    EXPECT_DEATH(this->touch(static_cast<unsigned char*>(kept) + 40), "use-after-poison");
    this->touch(kept);
    pool.clear();
    EXPECT_DEATH(this->touch(kept), "use-after-poison");
}

TYPED_TEST(pool_death, what_is_freed_is_filled_in_checked_builds) {
    if (support::under_address_sanitizer()) GTEST_SKIP() << "it may not be read any more";
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto* const freed = static_cast<volatile unsigned char*>(this->pool_.allocate());
    freed[20] = 1;
    this->pool_.deallocate(const_cast<unsigned char*>(freed));
    EXPECT_EQ(freed[20], tenure::freed_fill);
}

// In builds without checks a free only notes the block; the mistake shows when its bit is set.

class pool_release_death : public testing::Test {
protected:
    pool_release_death() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        while (blocks_.size() < 1000) blocks_.push_back(pool_.allocate());
    }
    tenure::block_pool pool_{40, 8};
    std::vector<void*> blocks_;
};

TEST_F(pool_release_death, a_double_free_is_reported_when_it_is_written_back) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds report it at once";
    EXPECT_DEATH(
        {
            for (std::size_t index : {4u, 5u, 5u}) pool_.deallocate(blocks_[index]);
            for (std::size_t index = 10; index < 300; ++index) pool_.deallocate(blocks_[index]);
        },
        "a pool block was freed twice: 0x");
    EXPECT_DEATH(
        {
            // The block that was freed first stays in front, and is written only when somebody asks for all.
            for (std::size_t index : {5u, 5u}) pool_.deallocate(blocks_[index]);
            pool_.for_each([](void*) {});
        },
        "a pool block was freed twice: 0x");
}

TEST_F(pool_release_death, each_block_that_was_freed_twice_is_named_and_the_pool_goes_on) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds report it at once";
    const support::heard_reports heard;
    std::size_t freed = 0;
    for (std::size_t index = 0; index < 1000; index += 2, ++freed) pool_.deallocate(blocks_[index]);
    EXPECT_TRUE(pool_.valid()); // writes everything back
    EXPECT_EQ(heard.count(), 0u);
    for (std::size_t index = 100; index < 120; index += 2) pool_.deallocate(blocks_[index]);
    EXPECT_TRUE(pool_.valid());
    EXPECT_EQ(heard.count(report_kind::misuse), 10u);
    EXPECT_EQ(pool_.size(), 1000 - freed);
    std::size_t seen = 0;
    pool_.for_each([&](void*) { ++seen; });
    EXPECT_EQ(seen, 1000 - freed);
    EXPECT_TRUE(pool_.valid());
}

TEST_F(pool_release_death, a_block_that_is_freed_twice_in_a_row_is_named_at_once_and_counted_once) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds report it at once";
    const support::heard_reports heard;
    pool_.deallocate(blocks_[5]);
    pool_.deallocate(blocks_[5]);
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
    EXPECT_EQ(pool_.size(), 999u);
    EXPECT_EQ(pool_.allocate(), blocks_[5]);
    EXPECT_NE(pool_.allocate(), blocks_[5]);
    EXPECT_TRUE(pool_.valid());
}

TEST_F(pool_release_death, a_pool_whose_only_block_is_freed_twice_is_empty) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds report it at once";
    const support::heard_reports heard;
    for (std::size_t index = 0; index < 1000; ++index) pool_.deallocate(blocks_[index]);
    pool_.deallocate(blocks_[500]);
    EXPECT_EQ(pool_.size(), 0u);
    EXPECT_TRUE(pool_.valid());
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
}

TEST_F(pool_release_death, a_block_within_a_row_of_freed_neighbours_is_named_once) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds report it at once";
    const support::heard_reports heard;
    std::sort(blocks_.begin(), blocks_.end());
    for (std::size_t index = 100; index < 300; ++index) pool_.deallocate(blocks_[index]);
    pool_.deallocate(blocks_[150]);
    pool_.deallocate(blocks_[700]);
    EXPECT_TRUE(pool_.valid());
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
    EXPECT_EQ(pool_.size(), 1000u - 201u);
}

TEST_F(pool_release_death, a_block_that_waits_in_the_group_and_is_freed_stays_free_once) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds report it at once";
    const support::heard_reports heard;
    for (std::size_t index = 0; index < 1000; ++index) pool_.deallocate(blocks_[index]);
    EXPECT_TRUE(pool_.valid());
    // The next block makes a whole word ready, of which the rest waits; one of those is freed once more.
    void* const taken = pool_.allocate();
    std::sort(blocks_.begin(), blocks_.end());
    const auto neighbour = std::find(blocks_.begin(), blocks_.end(), taken) + 1;
    pool_.deallocate(*neighbour);
    EXPECT_TRUE(pool_.valid());
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
    EXPECT_EQ(pool_.size(), 1u);
    std::vector<void*> again{taken};
    for (int count = 0; count < 2000; ++count) again.push_back(pool_.allocate());
    std::sort(again.begin(), again.end());
    EXPECT_EQ(std::adjacent_find(again.begin(), again.end()), again.end()) << "no block has two owners";
    EXPECT_TRUE(pool_.valid());
}

}
