// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/page_source.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>

namespace {

using tenure::page_source;

TEST(page_source, any_size_and_alignment_is_served_whole) {
    page_source& source = page_source::process();
    for (std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{4097}, std::size_t{3'000'001}}) {
        for (std::size_t alignment : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{1} << 25}) {
            void* const block = source.acquire(bytes, alignment);
            ASSERT_NE(block, nullptr);
            EXPECT_TRUE(tenure::is_aligned(block, alignment));
            std::memset(block, 0x11, bytes);
            source.release(block, bytes);
        }
    }
}

TEST(page_source, a_refusal_is_null) {
    page_source& source = page_source::process();
    EXPECT_EQ(source.acquire(SIZE_MAX, 16), nullptr);
    EXPECT_EQ(source.acquire(PTRDIFF_MAX, 16), nullptr);
    EXPECT_EQ(source.acquire(std::size_t{1} << 60, 16), nullptr);
    void* const block = source.acquire(4096, 16);
    EXPECT_EQ(source.remap(block, 4096, SIZE_MAX, 4096), nullptr);
    EXPECT_FALSE(source.extend(block, 4096, SIZE_MAX));
    source.release(block, 4096);
}

TEST(page_source, decommit_spares_the_pages_that_are_only_partly_in_the_range) {
    page_source& source = page_source::process();
    const std::size_t page = tenure::platform::page_bytes();
    auto* const block = static_cast<unsigned char*>(source.acquire(4 * page, 16));
    std::memset(block, 0x22, 4 * page);
    EXPECT_TRUE(source.decommit(block + 1, 3 * page));
    EXPECT_EQ(block[page - 1], 0x22);
    EXPECT_EQ(block[page], 0);
    EXPECT_EQ(block[3 * page - 1], 0);
    EXPECT_EQ(block[3 * page], 0x22);
    EXPECT_FALSE(source.decommit(block + 1, page));
    EXPECT_FALSE(source.decommit(block, page - 1));
    EXPECT_EQ(block[0], 0x22);
    source.release(block, 4 * page);
}

TEST(page_source, a_block_moves_with_its_contents) {
    page_source& source = page_source::process();
    void* block = source.acquire(5000, 16);
    std::memset(block, 0x33, 5000);
    block = source.remap(block, 5000, 100'000, 4096);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(static_cast<unsigned char*>(block)[4999], 0x33);
    std::memset(block, 0x33, 100'000);
    source.release(block, 100'000);
}

TEST(page_source, huge_pages_are_asked_for_where_a_block_holds_one) {
    page_source source(tenure::page_size::huge);
    const std::size_t huge = tenure::platform::huge_page_bytes();
    void* const large = source.acquire(3 * huge, 16);
    ASSERT_NE(large, nullptr);
    EXPECT_TRUE(tenure::is_aligned(large, huge));
    std::memset(large, 1, 3 * huge);
    source.release(large, 3 * huge);
    void* const small_block = source.acquire(4096, 16);
    ASSERT_NE(small_block, nullptr);
    source.release(small_block, 4096);
    EXPECT_EQ(source.threads(), tenure::sharing::any_thread);
}

TEST(clock, time_goes_forward) {
    const std::uint64_t before = tenure::platform::monotonic_ns();
    std::uint64_t now = before;
    while (now == before) now = tenure::platform::monotonic_ns();
    EXPECT_GT(now, before);
}

TEST(page_source, shrink_keeps_the_front_and_the_end_can_be_had_again) {
    page_source& source = page_source::process();
    const std::size_t page = tenure::platform::page_bytes();
    auto* const block = static_cast<unsigned char*>(source.acquire(8 * page, 16));
    std::memset(block, 0x22, 8 * page);
    EXPECT_TRUE(source.shrink(block, 8 * page, 3 * page));
    EXPECT_EQ(block[3 * page - 1], 0x22);
    ASSERT_TRUE(source.extend(block, 3 * page, 6 * page));
    EXPECT_EQ(block[3 * page - 1], 0x22);
    EXPECT_EQ(block[3 * page], 0);
    source.release(block, 6 * page);
}

/// Whether the system was asked for huge pages at an address.
bool asks_for_huge_pages(const void* address) {
    std::ifstream mappings("/proc/self/smaps");
    std::string line;
    bool is_inside = false;
    while (std::getline(mappings, line)) {
        unsigned long begin = 0, end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
            is_inside = tenure::address_of(address) >= begin && tenure::address_of(address) < end;
        if (is_inside && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
    }
    return false;
}

TEST(page_source, a_block_that_grows_past_a_huge_page_asks_for_them) {
    page_source source(tenure::page_size::huge);
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    void* const block = source.acquire(mebibyte, 32 * mebibyte);
    EXPECT_FALSE(asks_for_huge_pages(block));
    ASSERT_TRUE(source.extend(block, mebibyte, 8 * mebibyte));
    void* const other = source.acquire(8 * mebibyte, 32 * mebibyte);
    EXPECT_EQ(asks_for_huge_pages(block), asks_for_huge_pages(other)); // neither where the system has none
    source.release(other, 8 * mebibyte);
    source.release(block, 8 * mebibyte);
}

}
