// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/pool/block_pool.hpp>

#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using tenure::heap;
using tenure::report_kind;

class heap_checks : public testing::Test {
protected:
    void SetUp() override {
        if (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    }

    [[nodiscard]] unsigned char* allocate(std::size_t bytes) {
        return static_cast<unsigned char*>(heap_.allocate(bytes));
    }
    /// Expects one more report, with these words in it, and the heap as sound as before.
    void expect_report(const std::string& words) {
        EXPECT_EQ(heard_.count(report_kind::misuse), ++expected_) << words;
        EXPECT_NE(heard_.last().find(words), std::string::npos) << heard_.last();
        EXPECT_TRUE(heap_.valid());
    }

    heap heap_;
    support::heard_reports heard_;
    std::size_t expected_ = 0;
};

TEST_F(heap_checks, a_double_free_is_reported_at_once_for_every_kind_of_block) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{20'000}, std::size_t{100'000}}) {
        void* const other = heap_.allocate(bytes);
        void* const block = heap_.allocate(bytes);
        heap_.deallocate(block);
        heap_.deallocate(block);
        expect_report(bytes == 100'000 ? "or whose block is already free, was freed"
                                       : "that is already free was freed");
        EXPECT_EQ(heap_.stats().live_count, 1u);
        heap_.deallocate(other);
    }
    void* const huge = heap_.allocate(50'000'000);
    heap_.deallocate(huge);
    heap_.deallocate(huge); // its memory is the system's again
    expect_report("not a block of this heap");
}

TEST_F(heap_checks, what_is_no_block_is_reported) {
    int local = 0;
    heap_.deallocate(&local);
    expect_report("not a block of this heap");
    heap other;
    void* const theirs = other.allocate(100);
    heap_.deallocate(theirs);
    expect_report("not a block of this heap");
    other.deallocate(theirs);
    tenure::block_pool pool(64);
    heap_.deallocate(pool.allocate());
    expect_report("not a block of this heap");
    EXPECT_EQ(heap_.reallocate(&local, 10), nullptr);
    expect_report("not a block of this heap");
}

TEST_F(heap_checks, an_address_inside_a_block_is_reported) {
    for (const std::size_t bytes : {std::size_t{200}, std::size_t{100'000}, std::size_t{50'000'000}}) {
        unsigned char* const block = allocate(bytes);
        heap_.deallocate(block + 16);
        expect_report("not the start of a block");
        heap_.deallocate(block);
    }
    EXPECT_EQ(heap_.stats().live_count, 0u);
}

TEST_F(heap_checks, a_write_of_one_byte_past_the_end_is_reported) {
    if (support::under_address_sanitizer()) GTEST_SKIP() << "AddressSanitizer stops at the write itself";
    tenure::set_option(tenure::option::heap_guard_sample, 0); // nor a page that faults, where a block lies before one
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{24}, std::size_t{100}, std::size_t{5000}, std::size_t{100'000}}) {
        for (const std::size_t past : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{15}}) {
            unsigned char* const block = allocate(bytes);
            const unsigned char before = block[bytes + past];
            block[bytes + past] ^= 1;
            heap_.deallocate(block);
            expect_report("memory past the end of a heap block");
            block[bytes + past] = before;
            heap_.deallocate(block);
            EXPECT_EQ(heard_.count(), expected_);
        }
    }
}

TEST_F(heap_checks, a_write_after_the_free_is_reported_when_the_block_is_used_again) {
    if (support::under_address_sanitizer()) GTEST_SKIP() << "AddressSanitizer stops at the write itself";
    unsigned char* const block = allocate(100);
    heap_.deallocate(block);
    EXPECT_EQ(block[0], tenure::freed_fill);
    block[60] = 1;
    std::vector<void*> later;
    for (int each = 0; each < 2000 && heard_.count() == 0; ++each) later.push_back(heap_.allocate(100));
    expect_report("first at byte 60");
    EXPECT_NE(heard_.last().find("after it was freed"), std::string::npos);
    for (void* const each : later) heap_.deallocate(each);
}

TEST_F(heap_checks, addresses_are_not_foretold_and_a_freed_block_rests) {
    unsigned char* const block = allocate(100);
    heap_.deallocate(block);
    std::size_t in_order = 0;
    const unsigned char* last = nullptr;
    std::vector<void*> blocks;
    for (int each = 0; each < 200; ++each) {
        unsigned char* const next = allocate(100);
        in_order += std::size_t{next > last};
        last = next;
        blocks.push_back(next);
    }
    EXPECT_GT(in_order, 40u);
    EXPECT_LT(in_order, 160u);
    for (void* const each : blocks) heap_.deallocate(each);
}

TEST_F(heap_checks, usable_bytes_are_those_that_were_asked_for) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{33}, std::size_t{100'000}, std::size_t{40'000'001}}) {
        unsigned char* block = allocate(bytes);
        EXPECT_EQ(heap_.usable_size(block), bytes);
        block = static_cast<unsigned char*>(heap_.reallocate(block, bytes + 9));
        EXPECT_EQ(heap_.usable_size(block), bytes + 9);
        std::memset(block, 1, bytes + 9);
        EXPECT_TRUE(heap_.resize(block, bytes));
        EXPECT_EQ(heap_.usable_size(block), bytes);
        heap_.deallocate(block);
    }
    EXPECT_EQ(heard_.count(), 0u);
}

TEST_F(heap_checks, a_walk_has_the_heap_to_itself) {
    void* const block = heap_.allocate(100);
    heap_.walk([&](void*, std::size_t bytes) {
        EXPECT_EQ(bytes, 100u);
        heap_.deallocate(heap_.allocate(1'000'000));
    });
    EXPECT_EQ(heard_.count(report_kind::misuse), 2u);
    EXPECT_NE(heard_.last().find("by the function that walk() calls"), std::string::npos) << heard_.last();
    heap_.walk([&](void*, std::size_t) { support::on_fresh_thread([&] { heap_.deallocate(heap_.allocate(8)); }); });
    EXPECT_NE(heard_.last().find("by another thread"), std::string::npos) << heard_.last();
    heap_.deallocate(block);
}

TEST(heap_misuse, in_a_release_build_a_double_free_is_found_when_it_is_written) {
    if (tenure::checks::caller) GTEST_SKIP() << "it is found at once in this build";
    heap tested;
    const support::heard_reports heard;
    void* const kept = tested.allocate(4000);
    void* const block = tested.allocate(4000);
    tested.deallocate(block);
    tested.deallocate(block);
    tested.trim(); // the cache is written
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
    tested.deallocate(kept);
    int local = 0;
    EXPECT_FALSE(tested.resize(&local, 1000)); // asks before it reads
    EXPECT_EQ(tested.usable_size(&local), 0u);
}

TEST(heap_misuse, stops_the_program_when_nobody_hears_it) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    EXPECT_DEATH(
        {
            heap tested;
            void* const block = tested.allocate(10);
            tested.deallocate(block);
            tested.deallocate(block);
        },
        "tenure: a heap block that is already free was freed: 0x[0-9a-f]+. Look for a second owner");
}

}
