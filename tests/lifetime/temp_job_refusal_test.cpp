// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/report.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/shared_block_pool.hpp>
#include <tenure/pool/small_object.hpp>

#include "lifetime/fixture.hpp"
#include "support/careless_source.hpp"
#include "support/ledger.hpp"

namespace {

using tenure::temp_job;

struct request {
    std::size_t bytes;
    std::size_t alignment;
};
constexpr request requests[] = {{10, 16},      {60'000, 16}, {100, 4096},   {0, 16},          {30'000, 64},
                                {200'000, 16}, {1, 1 << 20}, {50'000, 128}, {20'000'000, 16}, {1000, 16}};

bool same(const tenure::temp_job_stats& left, const tenure::temp_job_stats& right) {
    return left.live_count == right.live_count && left.live_bytes == right.live_bytes &&
           left.chunk_bytes == right.chunk_bytes && left.overflow_count == right.overflow_count &&
           left.overflow_bytes == right.overflow_bytes;
}

class temp_job_refusal : public support::temp_job_test {
protected:
    ~temp_job_refusal() override { temp_job::set_source(tenure::page_source::process()); }
};

TEST_F(temp_job_refusal, of_chunks_at_the_nth_request_sends_blocks_to_the_heap_for_each_n) {
    tenure::counting_source counted(tenure::page_source::process());
    bool refused_once = true;
    for (std::size_t allowed = 0; refused_once; ++allowed) {
        ASSERT_LT(allowed, 100u);
        refused_once = false;
        tenure::failing_source failing(counted, allowed);
        temp_job::set_source(failing);
        support::on_fresh_thread([&] {
            support::ledger ledger;
            for (const request& each : requests) {
                const tenure::temp_job_stats before = temp_job::stats();
                EXPECT_EQ(temp_job::allocate(SIZE_MAX - 10'000), nullptr);
                EXPECT_TRUE(same(temp_job::stats(), before));
                void* const block = temp_job::allocate(each.bytes, each.alignment);
                ASSERT_NE(block, nullptr);
                const bool is_overflow = temp_job::stats().overflow_count != before.overflow_count;
                EXPECT_TRUE(!is_overflow || tenure::heap::process().owns(block));
                EXPECT_TRUE(temp_job::owns(block));
                if (is_overflow) {
                    refused_once = true;
                    EXPECT_EQ(temp_job::stats().overflow_bytes, before.overflow_bytes + each.bytes);
                    if (each.bytes == 0) failing.allow(1000); // from here on in chunks again
                }
                ASSERT_EQ(ledger.add(block, each.bytes, each.alignment), "");
                EXPECT_TRUE(temp_job::valid());
            }
            EXPECT_EQ(ledger.check_all(), "");
            while (!ledger.empty()) {
                void* const block = ledger.at(ledger.size() - 1).at;
                EXPECT_EQ(ledger.remove(block), "");
                temp_job::deallocate(block);
            }
        });
        temp_job::trim();
        EXPECT_EQ(counted.live_blocks(), 0u);
        EXPECT_EQ(temp_job::stats().live_count, 0u);
    }
}

/// Gives only what is smaller than a chunk.
class small_source final : public tenure::block_source {
public:
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return bytes > 20'000 ? nullptr : tenure::page_source::process().acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
};

TEST_F(temp_job_refusal, of_chunks_alone_is_an_overflow_and_counted) {
    small_source only_small;
    tenure::counting_source counted(only_small);
    temp_job::set_source(counted);
    support::on_fresh_thread([] {
        const std::uint64_t before = temp_job::stats().overflow_count;
        std::vector<void*> blocks;
        for (int count = 0; count < 100; ++count) {
            blocks.push_back(temp_job::allocate(1000));
            ASSERT_NE(blocks.back(), nullptr);
            std::memset(blocks.back(), 1, 1000);
        }
        EXPECT_EQ(temp_job::stats().overflow_count, before + 100);
        blocks.push_back(temp_job::allocate(50'000));
        EXPECT_TRUE(tenure::heap::process().owns(blocks.back()));
        for (void* each : blocks) temp_job::deallocate(each);
    });
    EXPECT_EQ(counted.live_blocks(), 0u);
}

// The address space of a child is closed before its thread has anything, and opened again: every first call must answer
// null, and the next one work.

void close_address_space(std::size_t spare_bytes) {
    std::size_t pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) std::_Exit(3);
    std::fclose(file);
    const rlim_t bytes = pages * 4096 + spare_bytes;
    const rlimit limit{bytes, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(4);
}
void open_address_space() {
    const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(5);
}

class closed_address_space : public testing::Test {
protected:
    closed_address_space() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void SetUp() override {
        if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer needs the address space itself";
    }
};

TEST_F(closed_address_space, the_main_threads_range_of_temp_was_reserved_at_the_start) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "not in this build";
    EXPECT_EXIT(
        {
            static_cast<void>(tenure::option_value(tenure::option::passthrough));
            close_address_space(0);
            bool good = tenure::temp::allocate(100) != nullptr;
            const std::size_t budget = tenure::temp::stats().budget_bytes;
            good = good && tenure::temp::allocate(budget - 4096) != nullptr;
            std::_Exit(good && tenure::temp::stats().overflow_count == 0 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(closed_address_space, the_first_calls_are_refused_and_later_ones_served) {
    EXPECT_EXIT(
        {
            tenure::shared_block_pool pool(64);
            static_cast<void>(tenure::option_value(tenure::option::passthrough));
            static_cast<void>(temp_job::trim()); // releases the ranges that were reserved when the program started
            close_address_space(0);
            bool good = tenure::temp::allocate(100) == nullptr && temp_job::allocate(100) == nullptr;
            good = good && pool.allocate() == nullptr;
            tenure::reset_temp();
            tenure::next_frame();
            {
                const tenure::temp_scope scope;
                const tenure::tag_scope tagged("nobody");
                good = good && tenure::temp::allocate(1) == nullptr;
            }
            good = good && tenure::temp::stats().used_bytes == 0 && temp_job::stats().live_count == 0;
            open_address_space();
            void* const temp_block = tenure::temp::allocate(100);
            void* const job_block = temp_job::allocate(100);
            void* const pool_block = pool.allocate();
            good = good && temp_block != nullptr && job_block != nullptr && pool_block != nullptr;
            temp_job::deallocate(job_block);
            pool.deallocate(pool_block);
            std::_Exit(good && pool.size() == 0 && temp_job::stats().live_count == 0 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(closed_address_space, a_pool_without_memory_for_a_cache_works_without_one) {
    EXPECT_EXIT(
        {
            tenure::shared_block_pool pool(64);
            std::vector<void*> blocks(1000);
            support::on_fresh_thread([&] { blocks[0] = pool.allocate(); }); // the segment is there now
            close_address_space(0);
            for (std::size_t index = 1; index < blocks.size(); ++index) blocks[index] = pool.allocate();
            const bool all = std::count(blocks.begin(), blocks.end(), nullptr) == 0;
            for (void* each : blocks) pool.deallocate(each);
            const bool good = all && pool.size() == 0;
            open_address_space();
            std::_Exit(good && pool.valid() ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(closed_address_space, temp_without_room_for_its_range_lives_in_overflow) {
    EXPECT_EXIT(
        {
            tenure::set_option(tenure::option::temp_budget_bytes, std::size_t{1} << 40);
            close_address_space(std::size_t{64} << 20); // room for chunks, not for the budget
            bool good = true;
            for (int round = 0; round < 3 && good; ++round) {
                const tenure::temp_scope scope;
                support::ledger ledger;
                for (int count = 0; count < 1000 && good; ++count)
                    good = ledger.add(tenure::temp::allocate(100), 100, 16).empty();
                good = good && ledger.check_all().empty() && tenure::temp::stats().budget_bytes == 0;
            }
            good = good && tenure::temp::stats().used_bytes == 0 && tenure::temp::stats().overflow_count >= 3;
            tenure::reset_temp();
            open_address_space();
            void* const block = tenure::temp::allocate(100); // and now the range can be had
            std::_Exit(good && tenure::temp::stats().budget_bytes != 0 && block != nullptr ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^tenure: The system refused memory for Temp's range[^\n]*\n$");
}

TEST_F(closed_address_space, operator_new_throws_and_the_nothrow_form_returns_null) {
    struct object : tenure::small_object {
        unsigned char bytes[30'000];
    };
    EXPECT_EXIT(
        {
            auto* const first = new object;
            delete first;
            close_address_space(0);
            std::size_t made = 0;
            bool thrown = false;
            try {
                while (made < 1'000'000) {
                    static_cast<void>(new object);
                    ++made;
                }
            } catch (const std::bad_alloc&) {
                thrown = true;
            }
            std::_Exit(thrown && made > 0 && new (std::nothrow) object == nullptr ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(temp_job_refusal, a_chunk_that_is_not_aligned_goes_back_and_blocks_come_one_by_one) {
    if (tenure::passthrough_enabled(tenure::part::temp_job)) GTEST_SKIP() << "the blocks are malloc's";
    static int heard;
    heard = 0;
    support::careless_source source;
    temp_job::trim();
    temp_job::set_source(source);
    auto* const former = tenure::set_report_handler([](tenure::report_kind, std::string_view) noexcept {
        ++heard;
        static_cast<void>(temp_job::stats()); // under no lock
    });
    std::vector<void*> blocks;
    support::on_fresh_thread([&] {
        for (int each = 0; each < 10; ++each) blocks.push_back(temp_job::allocate(100));
    });
    EXPECT_EQ(source.live_blocks, 0u);
    for (void* const block : blocks) {
        ASSERT_NE(block, nullptr);
        std::memset(block, 7, 100);
        temp_job::deallocate(block);
    }
    tenure::set_report_handler(former);
    temp_job::set_source(tenure::page_source::process());
    EXPECT_GE(source.requests, 10u);
    EXPECT_EQ(heard != 0, tenure::checks::caller);
    EXPECT_TRUE(temp_job::valid());
}

}
