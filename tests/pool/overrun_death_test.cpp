// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Writes past the end and in front of pool blocks, which checked builds report with the block that was overrun.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/engine/tail_guard.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>

#include "support/overruns.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using support::name_of;
using support::write;

template<class Pool>
class pool_overrun_death : public testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
        if (support::under_address_sanitizer()) GTEST_SKIP() << "it stops at the write";
        for (void*& each : blocks_) each = pool_.allocate();
        std::sort(std::begin(blocks_), std::end(blocks_));
        pitch_ = static_cast<std::size_t>(at(1) - at(0));
    }
    [[nodiscard]] char* at(std::size_t index) const { return static_cast<char*>(blocks_[index]); }

    Pool pool_{100, 4};
    void* blocks_[200]{};
    std::size_t pitch_ = 0;
};

using pools = testing::Types<tenure::block_pool, tenure::shared_block_pool>;
TYPED_TEST_SUITE(pool_overrun_death, pools);

TYPED_TEST(pool_overrun_death, an_overrun_block_is_reported_when_it_is_freed) {
    EXPECT_DEATH(
        {
            write(this->at(10), 2, 101);
            this->pool_.deallocate(this->at(10));
        },
        "a pool block was overrun: memory past its end was overwritten: 0x");
}

TYPED_TEST(pool_overrun_death, the_overrun_block_is_named_when_its_neighbour_is_freed) {
    std::vector<char> saved(this->pitch_);
    for (const std::size_t index : {0u, 10u, 63u, 150u}) {
        std::memcpy(saved.data(), this->at(index), saved.size());
        const support::heard_reports heard;
        write(this->at(index), 2, this->pitch_ + 50);
        this->pool_.deallocate(this->at(index + 1));
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u) << index;
        EXPECT_NE(heard.last().find("was overrun"), std::string::npos) << heard.last();
        EXPECT_NE(heard.last().find(name_of(this->at(index))), std::string::npos) << heard.last();
        std::memcpy(this->at(index), saved.data(), saved.size());
    }
}

TYPED_TEST(pool_overrun_death, a_write_in_front_of_a_block_names_that_block) {
    for (const std::size_t index : {0u, 10u, 64u}) {
        const support::heard_reports heard;
        char saved[4];
        std::memcpy(saved, this->at(index) - 4, 4);
        write(this->at(index) - 4, 2, 4);
        this->pool_.deallocate(this->at(index));
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u) << index;
        EXPECT_NE(heard.last().find("memory in front of a pool block was overwritten: " + name_of(this->at(index))),
                  std::string::npos)
            << heard.last();
        std::memcpy(this->at(index) - 4, saved, 4);
    }
}

TYPED_TEST(pool_overrun_death, a_block_that_is_never_freed_is_named_by_clear) {
    const support::heard_reports heard;
    write(this->at(10), 2, 104);
    this->pool_.clear();
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find(name_of(this->at(10))), std::string::npos) << heard.last();
}

TYPED_TEST(pool_overrun_death, a_block_that_is_never_freed_is_named_by_the_end_of_the_pool) {
    const support::heard_reports heard;
    {
        TypeParam pool(40, 8);
        write(pool.allocate(), 2, 41);
    }
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
}

TYPED_TEST(pool_overrun_death, the_guard_begins_at_the_size_that_was_asked_for) {
    for (const std::size_t bytes : {1u, 20u, 24u, 31u, 33u, 1000u}) {
        for (const std::size_t alignment : {1u, 16u, 64u}) {
            TypeParam pool(bytes, alignment);
            char* const before = static_cast<char*>(pool.allocate());
            char* const block = static_cast<char*>(pool.allocate());
            write(before, 1, bytes);
            write(block, 1, bytes);
            const support::heard_reports heard;
            write(block + bytes, 2, 1);
            pool.deallocate(block);
            EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u) << bytes << " " << alignment;
            EXPECT_NE(heard.last().find("was overrun: memory past its end was overwritten: " + name_of(block)),
                      std::string::npos)
                << heard.last();
            block[bytes] = static_cast<char>(tenure::detail::tail_guard_fill);
            pool.deallocate(before);
            pool.deallocate(block);
            EXPECT_EQ(heard.count(), 1u) << heard.last();
        }
    }
}

TYPED_TEST(pool_overrun_death, whole_blocks_may_be_written_also_after_trims) {
    const support::heard_reports heard;
    for (const std::size_t bytes : {1u, 8u, 20u, 40u, 100u, 5000u}) {
        TypeParam pool(bytes, bytes == 20 ? 16 : 1);
        for (int round = 0; round < 4; ++round) {
            std::vector<void*> held;
            for (int count = 0; count < 300; ++count) {
                held.push_back(pool.allocate());
                write(held.back(), count, pool.block_bytes());
            }
            // Leaves every 40th, frees the rest in an order of its own, and returns what lies between.
            for (std::size_t index = 0; index < held.size(); ++index) {
                const std::size_t other = (index * 7 + 3) % held.size();
                if (other % 40 != 0) pool.deallocate(std::exchange(held[other], nullptr));
            }
            pool.trim();
            for (void* each : held) pool.deallocate(each);
        }
    }
    EXPECT_EQ(heard.count(), 0u) << heard.last();
}

TEST(pool_overrun_under_sanitizer, the_write_itself_is_reported) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    tenure::block_pool pool(100, 4);
    static_cast<void>(pool.allocate());
    auto* const block = static_cast<volatile char*>(pool.allocate());
    EXPECT_DEATH(block[100] = 1, "use-after-poison");
    EXPECT_DEATH(block[-4] = 1, "use-after-poison");
    pool.deallocate(const_cast<char*>(block));
    tenure::block_pool odd(20, 16); // AddressSanitizer knows units of 8 bytes, of which a first part is accessible
    auto* const first = static_cast<volatile char*>(odd.allocate());
    first[19] = 1;
    EXPECT_DEATH(first[20] = 1, "use-after-poison");
    EXPECT_DEATH(first[32 + 16] = 1, "use-after-poison") << "a block that was never allocated";
    EXPECT_DEATH(first[48 + 18] = 1, "use-after-poison");
    odd.deallocate(const_cast<char*>(first));
    EXPECT_DEATH(first[18] = 1, "use-after-poison");
}

}
