// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/resident.hpp>

#include <sys/mman.h>

#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace {

namespace platform = tenure::platform;

using parts = std::vector<std::pair<std::size_t, std::size_t>>; // offset, bytes

class resident : public testing::Test {
protected:
    resident() { ::madvise(range_, bytes_, MADV_NOHUGEPAGE); } // one page is in memory at a time
    ~resident() override { platform::unreserve(range_, bytes_); }

    void touch(std::size_t first_page, std::size_t pages) { std::memset(at(first_page * page_), 1, pages * page_); }
    char* at(std::size_t offset) { return static_cast<char*>(range_) + offset; }
    parts found(std::size_t offset, std::size_t bytes) {
        parts seen;
        platform::for_each_resident(at(offset), bytes, [&](void* part, std::size_t part_bytes) {
            seen.emplace_back(tenure::address_of(part) - tenure::address_of(range_), part_bytes);
        });
        return seen;
    }

    const std::size_t page_ = platform::page_bytes();
    const std::size_t bytes_ = 3000 * page_;
    void* const range_ = platform::map(bytes_, 1);
};

TEST_F(resident, pages_that_were_never_touched_are_not_visited) {
    EXPECT_EQ(found(0, bytes_), parts{});
    touch(3, 2);
    touch(2999, 1);
    EXPECT_EQ(found(0, bytes_), (parts{{3 * page_, 2 * page_}, {2999 * page_, page_}}));
    ASSERT_TRUE(platform::decommit(at(4 * page_), page_));
    EXPECT_EQ(found(0, bytes_), (parts{{3 * page_, page_}, {2999 * page_, page_}}));
}

TEST_F(resident, a_part_of_a_page_is_visited_as_far_as_the_range_goes) {
    touch(0, 1);
    touch(1000, 1000); // over the end of what one system call tells
    EXPECT_EQ(found(100, page_), (parts{{100, page_ - 100}}));
    EXPECT_EQ(found(1000 * page_ + 5, 1000 * page_ - 10), (parts{{1000 * page_ + 5, 1000 * page_ - 10}}));
    EXPECT_EQ(found(10, 1500 * page_), (parts{{10, page_ - 10}, {1000 * page_, 500 * page_ + 10}}));
    EXPECT_EQ(found(50, 0), parts{});
}

TEST_F(resident, pages_of_which_the_system_says_nothing_count_as_in_memory) {
    touch(600, 1);
    platform::unreserve(at(10 * page_), page_);
    EXPECT_EQ(found(0, 512 * page_), (parts{{0, 512 * page_}}));
}

}
