// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Writes past the end and in front of blocks of Temp and TempJob, which checked builds report with the block's name.

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>

#include "lifetime/fixture.hpp"
#include "support/overruns.hpp"
#include "support/reports.hpp"

namespace {

using support::name_of;
using support::write;
using tenure::temp;
using tenure::temp_job;
using tenure::temp_scope;

class overrun_death : public testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
        if (support::under_address_sanitizer()) GTEST_SKIP() << "it stops at the write";
    }
    ~overrun_death() override { tenure::reset_temp(); }
};

TEST_F(overrun_death, an_overrun_temp_block_is_reported_when_its_scope_ends) {
    EXPECT_DEATH(
        {
            const temp_scope scope;
            void* const block = temp::allocate(100);
            write(block, 2, 120);
        },
        "a Temp block of 100 bytes was overrun: 0x.*bytes 100 to 119 were overwritten");
}

TEST_F(overrun_death, of_two_temp_blocks_the_overrun_one_is_named) {
    const support::heard_reports heard;
    void* overrun = nullptr;
    {
        const temp_scope scope;
        static_cast<void>(temp::allocate(40));
        overrun = temp::allocate(100);
        static_cast<void>(temp::allocate(500, 64));
        write(overrun, 2, 160); // far into the next block's head
    }
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find(name_of(overrun)), std::string::npos) << heard.last();
    EXPECT_TRUE(temp::valid());
}

TEST_F(overrun_death, an_overrun_of_one_byte_is_found_by_the_free_the_reset_and_the_end_of_the_thread) {
    const support::heard_reports heard;
    for (const std::size_t bytes : {1u, 15u, 16u, 17u, 100u}) {
        void* const block = temp::allocate(bytes);
        write(static_cast<char*>(block) + bytes, 0, 1);
        temp::deallocate(block, bytes);
        EXPECT_EQ(heard.count(), 1u) << bytes;
        tenure::reset_temp();
        EXPECT_EQ(heard.count(), 2u) << bytes;
        support::on_fresh_thread([=] { write(static_cast<char*>(temp::allocate(bytes)) + bytes, 0, 1); });
        ASSERT_EQ(heard.count(), 3u) << bytes;
        const support::heard_reports afresh;
    }
}

TEST_F(overrun_death, an_overrun_in_the_overflow_is_reported) {
    const support::heard_reports heard;
    support::with_budget(4096, [] {
        const temp_scope scope;
        write(temp::allocate(50'000), 2, 50'001);
    });
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("byte 50000 was overwritten"), std::string::npos) << heard.last();
}

TEST_F(overrun_death, a_write_in_front_of_a_temp_block_is_reported) {
    const support::heard_reports heard;
    auto* const block = static_cast<char*>(temp::allocate(100));
    char saved[4];
    std::memcpy(saved, block - 4, 4);
    write(block - 4, 2, 4);
    temp::deallocate(block, 100);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("memory in front of it was overwritten"), std::string::npos) << heard.last();
    std::memcpy(block - 4, saved, 4);
}

TEST_F(overrun_death, a_temp_block_freed_with_another_size_is_reported) {
    const support::heard_reports heard;
    void* const block = temp::allocate(100);
    temp::deallocate(block, 200);
    EXPECT_NE(heard.last().find("a Temp block of 100 bytes was freed as one of 200"), std::string::npos);
    temp::deallocate(block, 100);
    EXPECT_EQ(heard.count(), 1u);
}

TEST_F(overrun_death, a_temp_job_block_freed_with_another_size_is_reported) {
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{100'000}}) {
        const support::heard_reports heard;
        void* const block = temp_job::allocate(bytes);
        temp_job::deallocate(block, bytes * 2);
        EXPECT_NE(heard.last().find("bytes was freed as one of " + std::to_string(bytes * 2)), std::string::npos);
        tenure::deallocate(block, bytes + 1, tenure::lifetime::temp_job);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u);
        tenure::deallocate(block, bytes, tenure::lifetime::temp_job);
        EXPECT_EQ(heard.count(), 2u) << heard.last();
    }
    const support::heard_reports heard;
    temp_job::deallocate(temp_job::allocate(0), 0);
    temp_job::deallocate(temp_job::allocate(0), 1);
    temp_job::deallocate(nullptr, 1);
    EXPECT_EQ(heard.count(), 0u) << heard.last();
}

TEST_F(overrun_death, an_object_of_temp_job_that_is_destroyed_as_one_of_the_heap_is_named) {
    const support::heard_reports heard;
    auto* const object = temp_job::make<long>(1L);
    tenure::destroy(object);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("a block of TempJob was freed as one of the heap: " + name_of(object)),
              std::string::npos)
        << heard.last();
    temp_job::destroy(object);
    tenure::destroy(temp::make<long>(1L));
    EXPECT_NE(heard.last().find("a block of Temp was freed"), std::string::npos) << heard.last();
    EXPECT_EQ(heard.count(), 2u);
}

TEST_F(overrun_death, blocks_of_every_size_and_alignment_may_be_written_whole) {
    const support::heard_reports heard;
    {
        const temp_scope scope;
        for (std::size_t bytes = 0; bytes < 200; ++bytes) {
            const std::size_t alignment = std::size_t{1} << bytes % 9;
            write(temp::allocate(bytes, alignment), 1, bytes);
            void* const job = temp_job::allocate(bytes, alignment);
            write(job, 1, bytes);
            const temp_scope inner;
            write(temp::allocate(bytes), 1, bytes);
            temp_job::deallocate(job);
        }
    }
    EXPECT_EQ(heard.count(), 0u) << heard.last();
}

TEST_F(overrun_death, an_overrun_temp_job_block_is_reported_when_it_is_freed) {
    void* const block = temp_job::allocate(100);
    EXPECT_DEATH(
        {
            write(block, 2, 120);
            temp_job::deallocate(block);
        },
        "a TempJob block of 100 bytes was overrun: 0x.*bytes 100 to 119 were overwritten");
    temp_job::deallocate(block);
}

TEST_F(overrun_death, of_two_temp_job_blocks_the_overrun_one_is_named_not_the_next_free) {
    void* const overrun = temp_job::allocate(100);
    void* const victim = temp_job::allocate(100);
    ASSERT_GT(tenure::address_of(victim), tenure::address_of(overrun));
    unsigned char saved[80 + 28];
    const std::size_t reach = tenure::address_of(victim) - tenure::address_of(overrun) - 100;
    ASSERT_LE(reach, sizeof saved);
    std::memcpy(saved, static_cast<char*>(overrun) + 100, reach);
    const support::heard_reports heard;
    write(overrun, 2, 100 + reach);
    temp_job::deallocate(victim);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("a TempJob block of 100 bytes was overrun: " + name_of(overrun)), std::string::npos)
        << heard.last();
    std::memcpy(static_cast<char*>(overrun) + 100, saved, reach);
    temp_job::deallocate(victim);
    temp_job::deallocate(overrun);
    EXPECT_EQ(heard.count(), 1u) << "restored";
}

TEST_F(overrun_death, a_write_in_front_of_a_temp_job_block_is_reported) {
    auto* const block = static_cast<char*>(temp_job::allocate(100));
    EXPECT_DEATH(
        {
            write(block - 4, 2, 4);
            temp_job::deallocate(block);
        },
        "memory in front of a TempJob block was overwritten: 0x");
    EXPECT_DEATH(
        {
            write(block - 12, 2, 4);
            temp_job::deallocate(block);
        },
        "memory in front of a TempJob block was overwritten: 0x");
    temp_job::deallocate(block);
}

TEST_F(overrun_death, an_overrun_of_a_block_in_a_chunk_of_its_own_and_of_one_without_a_chunk_is_reported) {
    for (const std::size_t alignment : {std::size_t{16}, std::size_t{1} << 17}) {
        auto* const block = static_cast<char*>(temp_job::allocate(100'000, alignment));
        const char saved = block[100'000];
        const support::heard_reports heard;
        write(block + 100'000, 0, 1);
        temp_job::deallocate(block);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u) << alignment;
        EXPECT_NE(heard.last().find("byte 100000 was overwritten"), std::string::npos) << heard.last();
        block[100'000] = saved;
        temp_job::deallocate(block);
        EXPECT_EQ(heard.count(), 1u);
    }
}

class overrun_under_sanitizer : public overrun_death {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    }
};

TEST_F(overrun_under_sanitizer, the_write_itself_is_reported) {
    auto* const scratch = static_cast<volatile char*>(temp::allocate(100));
    EXPECT_DEATH(scratch[100] = 1, "use-after-poison");
    EXPECT_DEATH(scratch[-4] = 1, "use-after-poison");
    auto* const job = static_cast<volatile char*>(temp_job::allocate(100));
    EXPECT_DEATH(job[100] = 1, "use-after-poison");
    EXPECT_DEATH(job[-4] = 1, "use-after-poison");
    EXPECT_DEATH(job[-60] = 1, "use-after-poison");
    temp_job::deallocate(const_cast<char*>(job));
}

}
