// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>

#include "support/careless_source.hpp"
#include "support/ledger.hpp"
#include "support/reports.hpp"

namespace {

using tenure::block_pool;
using tenure::shared_block_pool;

bool same(const tenure::allocator_stats& left, const tenure::allocator_stats& right) {
    return left.live_count == right.live_count && left.live_bytes == right.live_bytes &&
           left.peak_bytes == right.peak_bytes && left.reserved_bytes == right.reserved_bytes &&
           left.source_blocks == right.source_blocks;
}

/// Allocates until `count` blocks are there; at the first refusal looks that nothing changed and lets more through.
template<class Pool>
bool fill(Pool& pool, tenure::failing_source& failing, std::size_t count, support::ledger& ledger) {
    bool refused = false;
    while (ledger.size() < count) {
        const tenure::allocator_stats before = pool.stats();
        void* block = pool.allocate();
        if (block == nullptr) {
            EXPECT_FALSE(refused) << "one refusal is enough";
            refused = true;
            EXPECT_EQ(pool.allocate(), nullptr);
            EXPECT_TRUE(same(pool.stats(), before));
            EXPECT_EQ(pool.size(), ledger.size());
            EXPECT_EQ(ledger.check_all(), "");
            EXPECT_TRUE(pool.valid());
            failing.allow(1000);
            block = pool.allocate();
        }
        if (block == nullptr) return false;
        EXPECT_EQ(ledger.add(block, 100, 4), "");
    }
    return refused;
}

TEST(block_pool_refusal, a_refusal_at_the_nth_request_changes_nothing_for_each_n) {
    tenure::counting_source counted(tenure::page_source::process());
    for (std::size_t allowed = 0;; ++allowed) {
        tenure::failing_source failing(counted, allowed);
        block_pool pool(100, 4, 4096, failing);
        support::ledger ledger;
        const bool refused = fill(pool, failing, 400, ledger);
        EXPECT_EQ(ledger.size(), 400u);
        while (!ledger.empty()) {
            void* const block = ledger.at(0).at;
            EXPECT_EQ(ledger.remove(block), "");
            pool.deallocate(block);
        }
        EXPECT_EQ(pool.size(), 0u);
        EXPECT_TRUE(pool.valid());
        if (!refused) break;
        ASSERT_LT(allowed, 100u);
    }
    EXPECT_EQ(counted.live_blocks(), 0u);
}

/// Refuses what is larger than it is told to.
class small_only final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return bytes <= most ? tenure::page_source::process().acquire(bytes, alignment) : nullptr;
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
    std::size_t most = SIZE_MAX;
};

TEST(block_pool_refusal, of_large_segments_holds_only_while_the_small_ones_are_there) {
    small_only source;
    block_pool pool(64, 16, source);
    source.most = 65'536;
    void* const first = pool.allocate();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(pool.stats().reserved_bytes, 65'536u);
    source.most = SIZE_MAX;
    pool.deallocate(first);
    pool.trim();
    EXPECT_EQ(pool.stats().reserved_bytes, 0u);
    void* const second = pool.allocate();
    EXPECT_EQ(pool.stats().reserved_bytes, block_pool::default_segment_bytes);
    pool.deallocate(second);
    EXPECT_TRUE(pool.valid());
}

TEST(shared_block_pool_refusal, a_refusal_at_the_nth_request_changes_nothing_for_each_n) {
    // Its segments are large, so a limit on their number is reached with few of them: 0, 1 and 2.
    tenure::counting_source counted(tenure::page_source::process());
    for (std::size_t allowed = 0; allowed < 3; ++allowed) {
        tenure::failing_source failing(counted, allowed);
        shared_block_pool pool(3'000'000, 4, failing);
        std::vector<void*> blocks;
        while (void* const block = pool.allocate()) blocks.push_back(block);
        EXPECT_EQ(blocks.size() != 0, allowed != 0);
        EXPECT_EQ(pool.size(), blocks.size());
        EXPECT_TRUE(pool.valid());
        failing.allow(1);
        EXPECT_NE(pool.allocate(), nullptr);
        for (void* each : blocks) pool.deallocate(each);
        EXPECT_EQ(pool.size(), 1u);
        EXPECT_EQ(counted.live_blocks(), allowed + 1);
    }
    EXPECT_EQ(counted.live_blocks(), 0u);
}

TEST(block_pool_refusal, a_refusal_of_every_size_leaves_the_segments_as_large_as_they_were) {
    tenure::failing_source failing(tenure::page_source::process(), 0);
    tenure::counting_source counted(failing);
    block_pool pool(64, 16, counted);
    EXPECT_EQ(pool.allocate(), nullptr);
    failing.allow(1);
    EXPECT_NE(pool.allocate(), nullptr);
    EXPECT_EQ(counted.live_bytes(), block_pool::default_segment_bytes);
}

/// Gives nothing that is larger than a limit, and does not say so beforehand.
class limited_source final : public tenure::block_source {
public:
    explicit limited_source(std::size_t most) : most_(most) {}
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return bytes > most_ ? nullptr : tenure::page_source::process().acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

private:
    std::size_t most_;
};

TEST(block_pool_refusal, a_source_without_large_blocks_gives_smaller_segments) {
    for (std::size_t most : {std::size_t{4096}, std::size_t{70'000}, std::size_t{1} << 20}) {
        limited_source limited(most);
        tenure::counting_source counted(limited);
        block_pool pool(100, 4, counted);
        support::ledger ledger;
        for (int count = 0; count < 1000; ++count) ASSERT_EQ(ledger.add(pool.allocate(), 100, 4), "");
        EXPECT_EQ(ledger.check_all(), "");
        EXPECT_EQ(pool.stats().reserved_bytes, counted.live_bytes());
        EXPECT_TRUE(pool.valid());
        while (!ledger.empty()) {
            void* const block = ledger.at(ledger.size() / 2).at;
            EXPECT_EQ(ledger.remove(block), "");
            pool.deallocate(block);
        }
        EXPECT_TRUE(pool.valid());
        pool.trim();
        EXPECT_EQ(counted.live_blocks(), 0u);
        EXPECT_NE(pool.allocate(), nullptr);
    }
}

TEST(block_pool_refusal, a_block_that_no_segment_of_the_source_holds_is_refused) {
    limited_source limited(65536);
    block_pool pool(70'000, 16, limited);
    EXPECT_EQ(pool.allocate(), nullptr);
    EXPECT_EQ(pool.allocate(), nullptr);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
}

TEST(block_pool_refusal, a_segment_that_is_not_aligned_goes_back_and_counts_as_refused) {
    support::careless_source source;
    const support::heard_reports heard;
    block_pool pool(100, 4, source);
    EXPECT_EQ(pool.allocate(), nullptr);
    EXPECT_EQ(pool.stats().source_blocks, 0u);
    EXPECT_EQ(source.live_blocks, 0u);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse) != 0, tenure::checks::caller);
    EXPECT_TRUE(pool.valid());
}

shared_block_pool* asked_pool = nullptr;
std::size_t reports_heard = 0;
void ask_the_pool(tenure::report_kind, std::string_view) noexcept {
    ++reports_heard;
    static_cast<void>(asked_pool->stats());
    static_cast<void>(asked_pool->size());
}

TEST(block_pool_refusal, a_handler_may_ask_a_shared_pool) {
    support::careless_source source;
    shared_block_pool pool(100, 4, source), sound(100, 4);
    auto* const former = tenure::set_report_handler(&ask_the_pool);
    asked_pool = &pool;
    EXPECT_EQ(pool.allocate(), nullptr);
    asked_pool = &sound;
    const std::size_t heard = reports_heard;
    void* const block = sound.allocate();
    sound.deallocate(block);
    sound.deallocate(block);
    sound.trim();
    tenure::set_report_handler(former);
    EXPECT_EQ(heard != 0, tenure::checks::caller);
    EXPECT_EQ(reports_heard, heard + 1);
    EXPECT_EQ(source.live_blocks, 0u);
}

}
