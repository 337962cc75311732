// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// operator new and delete, in every form, and what becomes of a refusal.

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <malloc.h>

#include <cstring>
#include <new>
#include <stdexcept>

#include "preloaded.hpp"

namespace {

constexpr std::size_t beyond = static_cast<std::size_t>(PTRDIFF_MAX);

class operators : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(file_of("_Znwm"), dropin_name()); }
    void TearDown() override { std::set_new_handler(nullptr); }
};

TEST_F(operators, give_aligned_blocks_that_every_form_of_delete_takes) {
    constexpr std::size_t sizes[] = {0, 1, 8, 9, 24, 1000, 1025, 40'000, 40'000'000};
    for (std::size_t bytes : sizes) {
        const std::size_t least = bytes <= 8 ? 8 : 16;
        void* const plain = hidden(::operator new(bytes));
        void* const array = hidden(::operator new[](bytes));
        void* const quiet = hidden(::operator new(bytes, std::nothrow));
        void* const quiet_array = hidden(::operator new[](bytes, std::nothrow));
        for (void* block : {plain, array, quiet, quiet_array}) {
            ASSERT_NE(block, nullptr);
            EXPECT_TRUE(is_multiple(block, least)) << bytes;
            EXPECT_GE(::malloc_usable_size(block), bytes);
            std::memset(block, 5, bytes);
        }
        ::operator delete(plain);
        ::operator delete[](array, bytes);
        ::operator delete(quiet, std::nothrow);
        ::operator delete[](quiet_array, std::nothrow);
    }
    ::operator delete(nullptr);
}

// Also run with a guarded block as often as possible: one that ends at a guard page starts where its alignment says.
TEST_F(operators, align_every_block_of_a_size_class) {
    constexpr std::size_t count = 500, sizes[] = {12, 24, 40, 280, 1000, 2008, 40'008};
    for (const std::size_t bytes : sizes) {
        void* blocks[count];
        for (void*& block : blocks) {
            block = hidden(::operator new(bytes));
            EXPECT_TRUE(is_multiple(block, 16)) << bytes << ": " << block;
        }
        for (void* block : blocks) ::operator delete(block, bytes);
    }
}

TEST_F(operators, keep_alignments_of_their_own) {
    for (std::size_t number = 8; number <= (std::size_t{1} << 20); number *= 2) {
        const auto alignment = static_cast<std::align_val_t>(number);
        void* const plain = hidden(::operator new(40, alignment));
        void* const array = hidden(::operator new[](40, alignment));
        void* const quiet = hidden(::operator new(40, alignment, std::nothrow));
        void* const quiet_array = hidden(::operator new[](40, alignment, std::nothrow));
        for (void* block : {plain, array, quiet, quiet_array}) EXPECT_TRUE(is_multiple(block, number)) << number;
        ::operator delete(plain, alignment);
        ::operator delete[](array, 40, alignment);
        ::operator delete(quiet, alignment, std::nothrow);
        ::operator delete[](quiet_array, alignment, std::nothrow);
    }
}

// A class without a virtual destructor is deleted as its base, with the base's size.
TEST_F(operators, a_wrong_size_at_delete_does_no_harm) {
    if (is_hardened()) GTEST_SKIP() << "the hardened form reports it";
    for (int i = 0; i < 1000; ++i) ::operator delete (hidden(::operator new(400)), std::size_t{8});
    for (int i = 0; i < 1000; ++i) EXPECT_LT(::malloc_usable_size(hidden(::operator new(8))), 400u);
}

TEST_F(operators, a_refusal_throws_bad_alloc_or_is_null) {
    EXPECT_THROW((void)hidden(::operator new(beyond)), std::bad_alloc);
    EXPECT_THROW((void)hidden(::operator new[](beyond)), std::bad_alloc);
    EXPECT_THROW((void)hidden(::operator new (beyond, std::align_val_t{64})), std::bad_alloc);
    EXPECT_THROW((void)hidden(::operator new[](beyond, std::align_val_t{64})), std::bad_alloc);
    EXPECT_EQ(hidden(::operator new(beyond, std::nothrow)), nullptr);
    EXPECT_EQ(hidden(::operator new[](beyond, std::nothrow)), nullptr);
    EXPECT_EQ(hidden(::operator new (beyond, std::align_val_t{64}, std::nothrow)), nullptr);
    EXPECT_EQ(hidden(::operator new[](beyond, std::align_val_t{64}, std::nothrow)), nullptr);
}

int calls_of_handler = 0;

TEST_F(operators, the_new_handler_is_called_until_it_gives_up) {
    calls_of_handler = 0;
    const auto handler = [] {
        if (++calls_of_handler == 3) std::set_new_handler(nullptr);
    };
    std::set_new_handler(handler);
    EXPECT_THROW((void)hidden(::operator new(beyond)), std::bad_alloc);
    EXPECT_EQ(calls_of_handler, 3);
    calls_of_handler = 0;
    std::set_new_handler(handler);
    EXPECT_EQ(hidden(::operator new(beyond, std::nothrow)), nullptr);
    EXPECT_EQ(calls_of_handler, 3);
    calls_of_handler = 0;
    std::set_new_handler(handler);
    EXPECT_EQ(hidden(::operator new (beyond, std::align_val_t{128}, std::nothrow)), nullptr);
    EXPECT_EQ(calls_of_handler, 3);
}

struct no_memory : std::bad_alloc {};

TEST_F(operators, what_a_new_handler_throws_arrives) {
    std::set_new_handler([] { throw no_memory{}; });
    EXPECT_THROW((void)hidden(::operator new(beyond)), no_memory);
    EXPECT_EQ(hidden(::operator new(beyond, std::nothrow)), nullptr);
}

struct throws_at_birth {
    explicit throws_at_birth(bool now) {
        if (now) throw std::runtime_error("at birth");
    }
    char content[100]{};
};

TEST_F(operators, a_constructor_that_throws_gives_its_memory_back) {
    const std::size_t before = ::mallinfo2().uordblks;
    for (int i = 0; i < 20'000; ++i) EXPECT_THROW(delete new throws_at_birth(true), std::runtime_error);
    EXPECT_LT(::mallinfo2().uordblks, before + 1'000'000);
}

}
