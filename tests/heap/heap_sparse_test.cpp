// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Pages that were never touched stay so, whatever becomes of their block; and what that costs of a small stack.

#include <tenure/heap/heap.hpp>

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/platform/process.hpp>

#include "support/process.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::fill;
using tenure::heap;

class heap_sparse : public testing::Test {
protected:
    void SetUp() override {
        if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap is malloc's";
        if (support::under_sanitizer()) GTEST_SKIP() << "sanitizers keep memory of their own for each page";
    }

    /// A block of which four pages were written.
    [[nodiscard]] unsigned char* sparse(std::size_t bytes) {
        auto* const block = static_cast<unsigned char*>(heap_.allocate(bytes, 16, fill::zero));
        for (const std::size_t at : places(bytes)) block[at] = 7;
        return block;
    }
    [[nodiscard]] static std::vector<std::size_t> places(std::size_t bytes) {
        return {0, bytes / 5, bytes / 4 + 4096, bytes - 1};
    }
    /// What was written is there up to `kept`, and nothing else is.
    static void expect_sparse(const unsigned char* block, std::size_t bytes, std::size_t kept) {
        for (const std::size_t at : places(bytes)) {
            if (at < kept) {
                EXPECT_EQ(block[at], 7) << at;
            }
        }
        EXPECT_EQ(block[kept / 2], 0);
        EXPECT_EQ(block[kept / 8], 0);
    }

    heap heap_;
};

TEST_F(heap_sparse, a_block_that_is_reallocated_takes_no_more_memory_than_it_had) {
    struct change {
        std::size_t from, to;
    };
    constexpr change changes[] = {{300 * mebibyte, 100 * mebibyte}, // from huge to huge
                                  {200 * mebibyte, 30 * mebibyte},  // to a large one
                                  {30 * mebibyte, 200 * mebibyte},  // and back
                                  {100 * mebibyte, 300 * mebibyte},
                                  {30 * mebibyte, 14 * mebibyte}};
    for (const auto& [from, to] : changes) {
        unsigned char* block = sparse(from);
        const std::size_t before = tenure::platform::resident_bytes();
        block = static_cast<unsigned char*>(heap_.reallocate(block, to));
        ASSERT_NE(block, nullptr);
        const std::size_t after = tenure::platform::resident_bytes();
        EXPECT_LT(after, before + 10 * mebibyte) << from << " to " << to;
        expect_sparse(block, from, std::min(from, to));
        heap_.deallocate(block);
        EXPECT_EQ(heap_.stats().live_bytes, 0u);
    }
    EXPECT_TRUE(heap_.valid());
}

TEST_F(heap_sparse, a_block_that_is_mostly_written_is_copied_whole) {
    for (const auto& [from, to] : {std::pair{40 * mebibyte, 15 * mebibyte}, {10 * mebibyte, 31 * mebibyte}}) {
        auto* block = static_cast<unsigned char*>(heap_.allocate(from));
        for (std::size_t at = 0; at < from; at += 512) block[at] = static_cast<unsigned char>(at >> 9);
        block = static_cast<unsigned char*>(heap_.reallocate(block, to));
        for (std::size_t at = 0; at < std::min(from, to); at += 512)
            ASSERT_EQ(block[at], static_cast<unsigned char>(at >> 9));
        heap_.deallocate(block);
    }
}

TEST_F(heap_sparse, a_huge_block_that_shrinks_gives_its_addresses_back) {
    if (tenure::checks::caller) GTEST_SKIP() << "blocks of checked builds do not move";
    void* block = sparse(900 * mebibyte);
    block = heap_.reallocate(block, 100 * mebibyte);
    EXPECT_LT(heap_.stats().reserved_bytes, 200 * mebibyte);
    EXPECT_EQ(heap_.stats().live_bytes, 100 * mebibyte);
    EXPECT_LE(heap_.usage().committed_bytes, 110 * mebibyte);
    heap_.deallocate(block);
}

TEST_F(heap_sparse, a_block_that_is_freed_takes_no_more_memory_than_it_had) {
    for (const std::size_t bytes : {8 * mebibyte, 20 * mebibyte, 50 * mebibyte}) {
        unsigned char* const block = sparse(bytes);
        void* const behind = heap_.allocate(100'000);
        const std::size_t before = tenure::platform::resident_bytes();
        heap_.deallocate(block);
        EXPECT_LT(tenure::platform::resident_bytes(), before + bytes / 2) << bytes;
        heap_.deallocate(behind);
    }
}

struct depth {
    heap* used;
    std::uintptr_t frame;
};

/// What it takes of its stack to make a kept block zero.
void* zero_a_kept_block(void* argument) {
    depth& found = *static_cast<depth*>(argument);
    found.frame = tenure::address_of(__builtin_frame_address(0));
    void* const block = found.used->allocate(100 * mebibyte, 16, fill::zero);
    found.used->deallocate(block);
    return nullptr;
}

TEST_F(heap_sparse, a_thread_with_a_small_stack_can_make_a_kept_block_zero) {
    constexpr std::size_t stack_bytes = 256 * 1024;
    constexpr unsigned char untouched = 0xA5;
    heap_.deallocate(sparse(100 * mebibyte));
    depth found{&heap_, 0};
    zero_a_kept_block(&found); // what is done for the first time needs more
    std::vector<unsigned char> memory(stack_bytes + 4096, untouched);
    auto* const stack =
        static_cast<unsigned char*>(tenure::pointer_at(tenure::align_up(tenure::address_of(memory.data()), 4096)));
    pthread_attr_t attributes;
    ASSERT_EQ(::pthread_attr_init(&attributes), 0);
    ASSERT_EQ(::pthread_attr_setstack(&attributes, stack, stack_bytes), 0);
    pthread_t thread{};
    ASSERT_EQ(::pthread_create(&thread, &attributes, &zero_a_kept_block, &found), 0);
    ASSERT_EQ(::pthread_join(thread, nullptr), 0);
    ::pthread_attr_destroy(&attributes);
    const auto* const lowest =
        std::find_if(stack, stack + stack_bytes, [](unsigned char at) { return at != untouched; });
    EXPECT_LT(found.frame - tenure::address_of(lowest), 8192u) << "of the 16 KiB that a thread may have";
}

}
