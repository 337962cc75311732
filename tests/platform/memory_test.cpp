// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/memory.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/platform/process.hpp>

#include "support/process.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;

namespace platform = tenure::platform;

bool all_are(const void* bytes, std::size_t count, unsigned char expected) {
    const auto* const first = static_cast<const unsigned char*>(bytes);
    return std::all_of(first, first + count, [=](unsigned char each) { return each == expected; });
}

/// Bytes of addresses that the process has taken.
std::size_t address_bytes() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * platform::page_bytes();
}

std::size_t mapping_limit() {
    std::size_t limit = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    return limit;
}

/// Takes all the mappings that the process may still have, and gives them back at its end.
class no_more_mappings {
public:
    explicit no_more_mappings(std::size_t limit) : bytes_(2 * (limit + 1) * page_) {
        pages_ = static_cast<unsigned char*>(::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (pages_ == MAP_FAILED) return;
        // Every second page has other rights, which makes a mapping of each.
        for (std::size_t at = 0; at + page_ < bytes_ && !is_reached_; at += 2 * page_)
            is_reached_ = ::mprotect(pages_ + at, page_, PROT_READ) != 0;
    }
    ~no_more_mappings() {
        if (pages_ != MAP_FAILED) ::munmap(pages_, bytes_);
    }
    no_more_mappings(const no_more_mappings&) = delete;
    no_more_mappings& operator=(const no_more_mappings&) = delete;

    [[nodiscard]] bool is_reached() const { return is_reached_; }

private:
    std::size_t page_ = platform::page_bytes();
    std::size_t bytes_;
    unsigned char* pages_ = nullptr;
    bool is_reached_ = false;
};

bool is_mapped(void* range, std::size_t bytes) {
    std::vector<unsigned char> states(bytes / platform::page_bytes());
    return ::mincore(range, bytes, states.data()) == 0;
}

TEST(memory, a_page_is_a_power_of_two_that_divides_a_huge_one) {
    EXPECT_TRUE(tenure::is_power_of_two(platform::page_bytes()));
    EXPECT_GE(platform::page_bytes(), 4096u);
    EXPECT_EQ(platform::huge_page_bytes() % platform::page_bytes(), 0u);
}

TEST(memory, a_range_has_the_alignment_that_was_asked_for) {
    for (std::size_t alignment = 1; alignment <= 64 * mebibyte; alignment *= 4) {
        void* const range = platform::map(3 * platform::page_bytes(), alignment);
        ASSERT_NE(range, nullptr);
        EXPECT_TRUE(tenure::is_aligned(range, std::max(alignment, platform::page_bytes())));
        std::memset(range, 1, 3 * platform::page_bytes());
        platform::unreserve(range, 3 * platform::page_bytes());
    }
}

TEST(memory, committed_pages_read_zero_and_keep_what_is_written) {
    const std::size_t bytes = 64 * platform::page_bytes();
    void* const range = platform::reserve(bytes, 1);
    ASSERT_NE(range, nullptr);
    ASSERT_TRUE(platform::commit(range, bytes / 2));
    EXPECT_TRUE(all_are(range, bytes / 2, 0));
    std::memset(range, 0xAB, bytes / 2);
    ASSERT_TRUE(platform::commit(static_cast<char*>(range) + bytes / 2, bytes / 2));
    EXPECT_TRUE(all_are(range, bytes / 2, 0xAB));
    EXPECT_TRUE(all_are(static_cast<char*>(range) + bytes / 2, bytes / 2, 0));
    platform::unreserve(range, bytes);
}

TEST(memory, decommitted_pages_are_gone_from_memory_and_read_zero) {
    const std::size_t bytes = 64 * mebibyte;
    void* const range = platform::map(bytes, 1);
    ASSERT_NE(range, nullptr);
    std::memset(range, 0xAB, bytes);
    const std::size_t full = platform::resident_bytes();
    EXPECT_TRUE(platform::decommit(range, bytes));
    const std::size_t empty = platform::resident_bytes();
    EXPECT_GT(full, empty + bytes / 2);
    EXPECT_TRUE(all_are(range, bytes, 0));
    std::memset(range, 0xCD, platform::page_bytes());
    EXPECT_TRUE(all_are(range, platform::page_bytes(), 0xCD));
    platform::unreserve(range, bytes);
}

TEST(memory, a_part_can_be_decommitted_and_its_neighbours_stay) {
    const std::size_t page = platform::page_bytes();
    auto* const range = static_cast<unsigned char*>(platform::map(3 * page, 1));
    std::memset(range, 0xAB, 3 * page);
    EXPECT_TRUE(platform::decommit(range + page, page));
    EXPECT_TRUE(all_are(range, page, 0xAB));
    EXPECT_TRUE(all_are(range + page, page, 0));
    EXPECT_TRUE(all_are(range + 2 * page, page, 0xAB));
    platform::unreserve(range, 3 * page);
}

TEST(memory, reserved_addresses_cost_no_memory) {
    const std::size_t before = platform::resident_bytes();
    void* const range = platform::reserve(std::size_t{64} << 30, 1);
    ASSERT_NE(range, nullptr);
    EXPECT_LT(platform::resident_bytes(), before + 16 * mebibyte);
    platform::unreserve(range, std::size_t{64} << 30);
}

TEST(memory, what_cannot_be_is_refused) {
    EXPECT_EQ(platform::map(0, 4096), nullptr);
    EXPECT_EQ(platform::map(std::size_t{1} << 62, 4096), nullptr);
    EXPECT_EQ(platform::map(SIZE_MAX - 4095, 4096), nullptr);
    EXPECT_EQ(platform::map(4096, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(platform::reserve(SIZE_MAX - 4095, std::size_t{1} << 40), nullptr);
}

TEST(memory, a_range_moves_with_its_contents) {
    const std::size_t page = platform::page_bytes();
    void* range = platform::map(page, 1);
    std::memset(range, 0x5A, page);
    range = platform::remap(range, page, 1000 * page, page);
    ASSERT_NE(range, nullptr);
    EXPECT_TRUE(all_are(range, page, 0x5A));
    EXPECT_TRUE(all_are(static_cast<char*>(range) + page, 999 * page, 0));
    EXPECT_EQ(platform::remap(range, 1000 * page, std::size_t{1} << 62, page), nullptr);
    EXPECT_TRUE(all_are(range, page, 0x5A));
    range = platform::remap(range, 1000 * page, page, page);
    EXPECT_TRUE(all_are(range, page, 0x5A));
    range = platform::remap(range, page, 3 * page, 4096 * page);
    ASSERT_NE(range, nullptr);
    EXPECT_TRUE(tenure::is_aligned(range, 4096 * page));
    EXPECT_TRUE(all_are(range, page, 0x5A));
    EXPECT_EQ(platform::remap(range, 3 * page, std::size_t{1} << 62, 4096 * page), nullptr);
    EXPECT_TRUE(all_are(range, page, 0x5A));
    std::memset(range, 0x5A, 3 * page);
    auto* const old_range = static_cast<unsigned char*>(range);
    range = platform::remap(range, 3 * page, page, 4096 * page);
    ASSERT_NE(range, nullptr);
    EXPECT_TRUE(tenure::is_aligned(range, 4096 * page));
    EXPECT_TRUE(all_are(range, page, 0x5A));
    EXPECT_FALSE(is_mapped(old_range + page, page)) << "the end of the old range";
    platform::unreserve(range, page);
}

TEST(memory, a_range_grows_where_it_is_or_stays_as_it_was) {
    const std::size_t page = platform::page_bytes();
    auto* const range = static_cast<char*>(platform::reserve(16 * page, 1));
    platform::unreserve(range + 8 * page, 8 * page);
    ASSERT_TRUE(platform::commit(range, 8 * page));
    std::memset(range, 0x5A, 8 * page);
    const bool grown = platform::extend(range, 8 * page, 16 * page);
    EXPECT_TRUE(all_are(range, 8 * page, 0x5A));
    if (grown) {
        EXPECT_TRUE(all_are(range + 8 * page, 8 * page, 0));
    }
    EXPECT_FALSE(platform::extend(range, grown ? 16 * page : 8 * page, std::size_t{1} << 62));
    platform::unreserve(range, grown ? 16 * page : 8 * page);
}

TEST(memory, a_range_that_has_the_size_already_is_granted_it_and_none_is_made_smaller) {
    const std::size_t page = platform::page_bytes();
    auto* const range = static_cast<unsigned char*>(platform::map(8 * page, 1));
    std::memset(range, 0x5A, 8 * page);
    EXPECT_TRUE(platform::extend(range, 8 * page, 8 * page));
    EXPECT_FALSE(platform::extend(range, 8 * page, 4 * page));
    ASSERT_TRUE(is_mapped(range, 8 * page));
    EXPECT_TRUE(all_are(range, 8 * page, 0x5A));
    platform::unreserve(range, 8 * page);
}

TEST(memory, a_move_that_is_refused_keeps_no_addresses) {
    const std::size_t page = platform::page_bytes(), bytes = 16 * mebibyte;
    auto* const range = static_cast<unsigned char*>(platform::map(bytes, 1));
    std::memset(range, 0x5A, page);
    ASSERT_EQ(::madvise(range + page, page, MADV_DONTFORK), 0); // three mappings, which do not move as one
    const std::size_t before = address_bytes();
    for (int count = 0; count < 50; ++count)
        ASSERT_EQ(platform::remap(range, bytes, 2 * bytes, 32 * mebibyte), nullptr);
    EXPECT_LT(address_bytes(), before + 2 * bytes);
    EXPECT_TRUE(all_are(range, page, 0x5A));
    // To a smaller range too, which must not cost the end of the old one. Linux moves several mappings from 6.17 on.
    void* const moved = platform::remap(range, bytes, bytes / 2, 32 * mebibyte);
    EXPECT_LT(address_bytes(), before + bytes);
    EXPECT_EQ(is_mapped(range, bytes), moved == nullptr);
    EXPECT_TRUE(all_are(moved == nullptr ? range : moved, page, 0x5A));
    platform::unreserve(moved == nullptr ? range : moved, moved == nullptr ? bytes : bytes / 2);
}

TEST(memory, at_the_limit_of_mappings_a_move_keeps_no_addresses_and_an_unmapping_is_made_up_for) {
    if (support::under_sanitizer()) GTEST_SKIP() << "sanitizers map memory themselves";
    const std::size_t limit = mapping_limit();
    if (limit == 0 || limit > 200'000) GTEST_SKIP() << "the limit of mappings is too far: " << limit;
    const std::size_t bytes = 4 * mebibyte;
    auto* const whole = static_cast<unsigned char*>(platform::map(3 * bytes, 1));
    unsigned char* const middle = whole + bytes;
    std::memset(whole, 0x5A, 3 * bytes);
    std::optional<no_more_mappings> at_limit(limit);
    ASSERT_TRUE(at_limit->is_reached());

    const std::size_t before = address_bytes();
    void* const moved = platform::remap(whole, bytes, 2 * bytes, 32 * mebibyte);
    const std::size_t after_move = address_bytes();
    platform::unreserve(middle, bytes);
    const bool was_refused = is_mapped(middle, bytes);
    const std::size_t resident = platform::resident_bytes_in(middle, bytes);
    at_limit.reset();
    EXPECT_EQ(moved, nullptr);
    EXPECT_LT(after_move, before + bytes) << "a move would keep twice as much; the test itself may map a little";
    EXPECT_TRUE(was_refused) << "the test is for a kernel that refuses";
    EXPECT_EQ(resident, 0u);

    platform::unreserve(whole, bytes);
    EXPECT_FALSE(is_mapped(middle, bytes)) << "the next unmapping takes it along";
    EXPECT_TRUE(all_are(whole + 2 * bytes, bytes, 0x5A));
    platform::unreserve(whole + 2 * bytes, bytes);
}

TEST(memory, a_page_that_is_locked_is_sealed_all_the_same) {
    const std::size_t page = platform::page_bytes();
    void* const range = platform::map(page, 1);
    std::memset(range, 1, page);
    if (support::under_sanitizer()) GTEST_SKIP() << "a sanitizer locks no memory";
    if (::mlock(range, page) != 0) GTEST_SKIP() << "the system lets no memory be locked";
    EXPECT_FALSE(platform::seal(range, page)) << "its memory stays";
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_EQ(::write(ends[1], range, 1), -1) << "it may still be read";
    ::close(ends[0]);
    ::close(ends[1]);
    platform::unreserve(range, page);
}

TEST(memory_death, unreserved_and_uncommitted_memory_may_not_be_touched) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "its own handler speaks of the signal";
    auto* const range = static_cast<volatile unsigned char*>(platform::reserve(4096, 1));
    EXPECT_DEATH(range[0] = 1, "");
    platform::unreserve(const_cast<unsigned char*>(range), 4096);
    EXPECT_DEATH(range[0] = 1, "");
}

TEST(process, the_peak_is_at_least_what_is_resident_and_can_start_anew) {
    const std::size_t resident = platform::resident_bytes();
    ASSERT_GT(resident, 0u);
    EXPECT_GE(platform::peak_resident_bytes() + mebibyte, resident);
    const std::size_t bytes = 64 * mebibyte;
    void* const range = platform::map(bytes, 1);
    std::memset(range, 1, bytes);
    EXPECT_GE(platform::peak_resident_bytes(), resident + bytes / 2);
    const std::size_t peak = platform::peak_resident_bytes();
    platform::unreserve(range, bytes);
    EXPECT_GE(platform::peak_resident_bytes() + mebibyte, peak);
    if (!platform::reset_peak_resident()) GTEST_SKIP() << "the system does not let the peak start anew";
    EXPECT_LT(platform::peak_resident_bytes(), peak - bytes / 2);
}

}
