// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/readable.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

#include <tenure/platform/memory.hpp>

namespace {

using tenure::platform::is_readable;
using tenure::platform::text_or;

/// Two pages; the second cannot be read.
class half_readable : public testing::Test {
protected:
    half_readable() : page_bytes_(tenure::platform::page_bytes()) {
        bytes_ = static_cast<char*>(
            ::mmap(nullptr, 2 * page_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        end_ = bytes_ + page_bytes_;
        ::mprotect(end_, page_bytes_, PROT_NONE);
    }
    ~half_readable() override { ::munmap(bytes_, 2 * page_bytes_); }

    std::size_t page_bytes_;
    char* bytes_;
    char* end_; // of what can be read
};

TEST_F(half_readable, memory_is_readable_up_to_the_page_that_is_not) {
    EXPECT_TRUE(is_readable(bytes_, page_bytes_));
    EXPECT_TRUE(is_readable(end_ - 1, 1));
    EXPECT_TRUE(is_readable(end_, 0));
    EXPECT_FALSE(is_readable(end_ - 1, 2));
    EXPECT_FALSE(is_readable(bytes_, page_bytes_ + 1));
    EXPECT_FALSE(is_readable(end_, 1));
    EXPECT_FALSE(is_readable(nullptr, 1));
    EXPECT_FALSE(is_readable(bytes_, SIZE_MAX));
}

TEST_F(half_readable, the_question_preserves_errno) {
    errno = 42;
    EXPECT_FALSE(is_readable(end_, 1));
    EXPECT_TRUE(is_readable(bytes_, 1));
    EXPECT_EQ(errno, 42);
}

TEST_F(half_readable, text_is_read_up_to_its_zero) {
    std::memset(bytes_, 'x', page_bytes_);
    EXPECT_EQ(text_or(end_ - 3, "none"), "none");
    EXPECT_EQ(text_or(std::string_view{end_ - 3, 3}, "none"), "xxx");
    EXPECT_EQ(text_or(std::string_view{end_ - 3, 4}, "none"), "none");
    end_[-1] = '\0';
    EXPECT_EQ(text_or(end_ - 3, "none"), "xx");
    EXPECT_EQ(text_or(end_, "none"), "none");
}

}
