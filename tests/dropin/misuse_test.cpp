// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What the hardened drop-in finds: each mistake ends a process of its own, with a message that names it.

#include <gtest/gtest.h>

#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <set>
#include <string>
#include <thread>

#include "preloaded.hpp"

namespace {

class misuse : public testing::Test {
protected:
    misuse() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void SetUp() override {
        if (!is_hardened()) GTEST_SKIP() << "the caller's mistakes are not checked";
    }
};

[[nodiscard]] unsigned char* allocate(std::size_t bytes) {
    return static_cast<unsigned char*>(hidden(std::malloc(bytes)));
}

constexpr std::size_t sizes[] = {1, 16, 24, 100, 250, 1000, 4080, 9000, 30'000};

void free_twice_after_other_calls(std::size_t bytes, int calls) {
    void* const block = allocate(bytes);
    std::free(block);
    for (int each = 0; each < calls; ++each) std::free(allocate(bytes));
    std::free(hidden(block));
}

TEST_F(misuse, a_double_free_is_reported_also_after_other_calls) {
    for (const std::size_t bytes : sizes) {
        EXPECT_DEATH(free_twice_after_other_calls(bytes, 0), "that is already free was freed") << bytes;
        EXPECT_DEATH(free_twice_after_other_calls(bytes, 1), "that is already free was freed") << bytes;
    }
    EXPECT_DEATH(free_twice_after_other_calls(64, 50), "that is already free was freed");
    EXPECT_DEATH(free_twice_after_other_calls(100'000, 0), "whose block is already free");
}

TEST_F(misuse, a_double_free_by_another_thread_is_reported) {
    EXPECT_DEATH(
        {
            void* const block = allocate(100);
            std::thread([&] { std::free(block); }).join();
            std::free(hidden(block));
        },
        "that is already free was freed");
}

TEST_F(misuse, an_address_that_is_no_block_is_reported) {
    EXPECT_DEATH(std::free(hidden(allocate(200) + 16)), "not the start of a block");
    EXPECT_DEATH(std::free(hidden(allocate(200) + 1)), "not the start of a block");
    EXPECT_DEATH(std::free(hidden(allocate(100'000) + 4096)), "not the start of a block");
    EXPECT_DEATH(
        {
            int local = 0;
            std::free(hidden(&local));
        },
        "not a block of this heap");
    static int global = 0;
    EXPECT_DEATH(std::free(hidden(&global)), "not a block of this heap");
}

TEST_F(misuse, a_write_of_one_byte_past_either_end_is_reported) {
    for (const std::size_t bytes : sizes) {
        EXPECT_DEATH(
            {
                unsigned char* const block = allocate(bytes);
                block[bytes] ^= 1;
                std::free(block);
            },
            "memory past the end of a heap block")
            << bytes;
        EXPECT_DEATH(
            {
                unsigned char* const block = allocate(bytes);
                block[-1] ^= 1;
                std::free(block);
            },
            "memory in front of a heap block")
            << bytes;
    }
}

TEST_F(misuse, a_free_that_does_not_match_the_allocation_is_reported) {
    EXPECT_DEATH(std::free(hidden(::operator new(100))), "allocated by new was freed by free.*Free it by delete");
    EXPECT_DEATH(std::free(hidden(::operator new[](100))), "allocated by new\\[\\] was freed by free");
    EXPECT_DEATH(::operator delete(hidden(std::malloc(100))), "allocated by malloc was freed by delete");
    EXPECT_DEATH(::operator delete(hidden(::operator new[](100))), "by new\\[\\] was freed by delete");
    EXPECT_DEATH(::operator delete[](hidden(::operator new(100))), "by new was freed by delete\\[\\]");
    EXPECT_DEATH(::operator delete(hidden(std::realloc(allocate(10), 5000))), "by malloc was freed by delete");
}

TEST_F(misuse, a_wrong_size_at_delete_is_reported) {
    EXPECT_DEATH(::operator delete (hidden(::operator new(400)), std::size_t{8}), "with size 8, but its size is 400");
    ::operator delete (hidden(::operator new(400)), std::size_t{400});
    ::operator delete (hidden(::operator new (400, std::align_val_t{64})), std::size_t{400}, std::align_val_t{64});
    ::operator delete[](hidden(::operator new[](400)), std::size_t{400});
}

TEST_F(misuse, a_write_after_the_free_is_reported_when_the_block_is_used_again) {
    EXPECT_DEATH(
        {
            unsigned char* const block = allocate(100);
            std::free(block);
            static_cast<unsigned char*>(hidden(block))[7] = 1;
            for (int each = 0; each < 10'000; ++each) std::free(allocate(100));
        },
        "written after it was freed.*first at byte 7");
}

TEST_F(misuse, a_freed_block_is_filled_and_not_handed_out_again_at_once) {
    unsigned char* const block = allocate(64);
    std::memset(block, 1, 64);
    std::free(block);
    EXPECT_TRUE(holds_only(hidden(block), 0xDF, 64));
    for (int each = 0; each < 40; ++each) {
        void* const other = allocate(64);
        EXPECT_NE(other, block) << each;
        std::free(other);
    }
}

TEST_F(misuse, a_block_past_256_kib_lies_between_guard_pages_and_is_gone_when_it_is_freed) {
    constexpr std::size_t bytes = 300'000, whole = 303'104;
    static_assert(whole % 4096 == 0);
    const auto faults = testing::KilledBySignal(SIGSEGV);
    EXPECT_EXIT(static_cast<volatile unsigned char*>(allocate(bytes))[-1] = 1, faults, "");
    EXPECT_EXIT(static_cast<volatile unsigned char*>(allocate(bytes))[whole] = 1, faults, "");
    EXPECT_EXIT(
        {
            unsigned char volatile* const block = allocate(bytes);
            std::free(const_cast<unsigned char*>(block));
            block[0] = 1;
        },
        faults, "");
    EXPECT_DEATH(
        {
            unsigned char* const block = allocate(bytes);
            block[bytes] = 1;
            std::free(block);
        },
        "memory past the end of a heap block");
    EXPECT_DEATH(std::free(hidden(allocate(bytes) + 16)), "not the start of a block");
    EXPECT_DEATH(
        {
            void* const block = allocate(bytes);
            std::free(block);
            std::free(hidden(block));
        },
        "not a block of this heap");
}

TEST_F(misuse, a_block_with_guard_pages_grows_and_shrinks) {
    unsigned char* block = allocate(300'000);
    std::memset(block, 1, 300'000);
    for (std::size_t bytes = 300'000; bytes < 3'000'000; bytes += 70'001) {
        block = static_cast<unsigned char*>(hidden(std::realloc(block, bytes)));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(::malloc_usable_size(block), bytes);
        EXPECT_TRUE(holds_only(block, 1, bytes - 70'001 < 300'000 ? 300'000 : bytes - 70'001));
        std::memset(block, 1, bytes);
    }
    for (const std::size_t bytes : std::initializer_list<std::size_t>{2'000'000, 1'500'001, 400'000, 100'000, 10}) {
        block = static_cast<unsigned char*>(hidden(std::realloc(block, bytes)));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(::malloc_usable_size(block), bytes);
        EXPECT_TRUE(holds_only(block, 1, bytes));
    }
    std::free(block);
    auto* const zeroed = static_cast<unsigned char*>(hidden(std::calloc(1000, 1000)));
    EXPECT_TRUE(holds_only(zeroed, 0, 1'000'000));
    std::free(zeroed);
}

TEST_F(misuse, the_block_of_malloc_of_zero_faults_when_it_is_used) {
    std::set<void*> seen;
    for (int each = 0; each < 100; ++each) {
        void* const block = hidden(std::malloc(0));
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(seen.insert(block).second);
        EXPECT_EQ(::malloc_usable_size(block), 0u);
    }
    for (void* const each : seen) std::free(each);
    EXPECT_EXIT(static_cast<volatile unsigned char*>(allocate(0))[0] = 1, testing::KilledBySignal(SIGSEGV), "");
    EXPECT_EXIT(static_cast<volatile unsigned char*>(hidden(::operator new(0)))[0] = 1,
                testing::KilledBySignal(SIGSEGV), "");
    EXPECT_DEATH(
        {
            void* const block = allocate(0);
            std::free(block);
            std::free(hidden(block));
        },
        "that is already free was freed");
    auto* const grown = static_cast<unsigned char*>(hidden(std::realloc(allocate(0), 100)));
    ASSERT_NE(grown, nullptr);
    std::memset(grown, 1, 100);
    std::free(grown);
}

/// A test whose process is started again with an option.
class misuse_with : public misuse {
protected:
    void TearDown() override {
        ::unsetenv("TENURE_HEAP_MITIGATIONS");
        ::setenv("TENURE_HEAP_GUARD_SAMPLE", "0", 1);
    }
};

/// Whether the block ends at a page, as every guarded one of 64 bytes and hardly another does.
[[nodiscard]] bool is_guarded(const unsigned char* block) { return is_multiple(block + 64, 4096); }

TEST_F(misuse_with, as_many_blocks_are_guarded_as_the_option_says_also_after_a_malloc_of_zero) {
    ::setenv("TENURE_HEAP_GUARD_SAMPLE", "100", 1);
    EXPECT_EXIT(
        {
            int count = 0;
            for (int each = 0; each < 20'000; ++each) {
                std::free(allocate(0));
                unsigned char* const block = allocate(64);
                count += is_guarded(block) ? 1 : 0;
                std::free(block);
            }
            std::_Exit(count > 100 && count < 300 ? 0 : 1); // 200, within ten standard deviations
        },
        testing::ExitedWithCode(0), "");
    EXPECT_EXIT(
        {
            unsigned char* block = allocate(64);
            while (!is_guarded(block)) {
                std::free(block);
                block = allocate(64);
            }
            std::free(block);
            static_cast<volatile unsigned char*>(hidden(block))[1] = 1;
        },
        testing::KilledBySignal(SIGSEGV), "an access to a freed heap block.*byte 1 of the block at .* of 64 bytes");
}

TEST_F(misuse_with, a_block_has_a_size_without_the_mitigation_of_canaries) {
    ::setenv("TENURE_HEAP_MITIGATIONS", "double_free,size", 1);
    EXPECT_EXIT(
        {
            for (const std::size_t bytes : {std::size_t{100}, std::size_t{100'000}}) {
                unsigned char* block = static_cast<unsigned char*>(hidden(::operator new(bytes)));
                const std::size_t whole = ::malloc_usable_size(block);
                std::memset(block + bytes, 1, 16 + (bytes < 1000 ? 12 : 0));
                const std::size_t usable = ::malloc_usable_size(block);
                if (whole != bytes || usable < bytes || usable > 2 * bytes) std::_Exit(1);
                block = static_cast<unsigned char*>(hidden(std::realloc(block, 1'000'000)));
                std::free(block);
                block = static_cast<unsigned char*>(hidden(::operator new(bytes)));
                std::memset(block + bytes, 1, 16);
                ::operator delete(block, bytes); // its size is unknown, so none is reported
            }
            unsigned char* const block = allocate(300'000);
            block[300'000] = 1;
            std::free(block);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(misuse, a_freed_block_past_256_kib_rests_behind_four_others) {
    for (const int others : {0, 3}) {
        EXPECT_EXIT(
            {
                for (int each = 0; each < 40; ++each) std::free(allocate(300'000));
                unsigned char volatile* const block = allocate(300'000);
                std::free(const_cast<unsigned char*>(block));
                for (int each = 0; each < others; ++each) static_cast<void>(allocate(300'000));
                block[0] = 1;
            },
            testing::KilledBySignal(SIGSEGV), "")
            << others;
    }
}

TEST_F(misuse, a_block_past_256_kib_is_reused_and_calloc_clears_it) {
    std::set<void*> seen;
    for (std::size_t bytes = 280'000; bytes < 330'000; bytes += 500) {
        auto* const block = static_cast<unsigned char*>(hidden(std::calloc(1, bytes)));
        ASSERT_TRUE(holds_only(block, 0, bytes));
        std::memset(block, 1, bytes);
        seen.insert(block);
        std::free(block);
    }
    EXPECT_LT(seen.size(), 50u);
}

TEST_F(misuse, larger_blocks_are_reused_in_no_fixed_order) {
    for (const std::size_t bytes : std::initializer_list<std::size_t>{1500, 2500, 5000, 10'000, 30'000}) {
        std::set<int> waits;
        for (int turn = 0; turn < 60; ++turn) {
            void* const first = allocate(bytes);
            std::free(first);
            int wait = 0;
            for (; wait < 100; ++wait) {
                void* const other = allocate(bytes);
                std::free(other);
                if (other == hidden(first)) break;
            }
            EXPECT_GT(wait, 2) << bytes;
            waits.insert(wait);
        }
        EXPECT_GT(waits.size(), 3u) << bytes;
    }
}

TEST_F(misuse, the_children_of_a_fork_reuse_blocks_in_orders_of_their_own) {
    constexpr int count = 200;
    for (int each = 0; each < count; ++each) static_cast<void>(hidden(std::malloc(100)));
    std::set<std::uint64_t> orders;
    for (int child = 0; child < 3; ++child) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t process = ::fork();
        if (process == 0) {
            void* blocks[count]{};
            std::uint64_t order = 0;
            for (int each = 0; each < 5000; ++each) {
                std::free(blocks[each % count]);
                blocks[each % count] = allocate(100);
                order = order * 31 + reinterpret_cast<std::uintptr_t>(blocks[each % count]);
            }
            ::_exit(::write(ends[1], &order, sizeof order) == sizeof order ? 0 : 1);
        }
        std::uint64_t order = 0;
        EXPECT_EQ(::read(ends[0], &order, sizeof order), ssize_t{sizeof order});
        EXPECT_EQ(::waitpid(process, nullptr, 0), process);
        ::close(ends[0]);
        ::close(ends[1]);
        orders.insert(order);
    }
    EXPECT_EQ(orders.size(), 3u);
}

}
