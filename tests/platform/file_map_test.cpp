// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/file_map.hpp>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <tenure/platform/memory.hpp>

namespace {

using tenure::status;
using tenure::platform::mapped_file;

/// Sets TMPDIR while it lives.
class temporary_folder {
public:
    explicit temporary_folder(const std::string& path) {
        if (const char* const before = std::getenv("TMPDIR")) before_ = before;
        ::setenv("TMPDIR", path.c_str(), 1);
    }
    ~temporary_folder() { before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1); }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

private:
    std::string before_;
};

TEST(file_map, a_folder_whose_path_is_too_long_is_told_as_that) {
    const temporary_folder folder("/" + std::string(PATH_MAX, 'x'));
    errno = 0;
    const mapped_file file(nullptr, 4096);
    EXPECT_EQ(file.memory(), nullptr);
    EXPECT_EQ(file.why(), status::file_error);
    EXPECT_EQ(errno, ENAMETOOLONG);
}

TEST(file_map, a_file_that_cannot_be_mapped_is_no_lack_of_memory) {
    errno = 0;
    const mapped_file file("/proc/version", 4096);
    EXPECT_EQ(file.memory(), nullptr);
    EXPECT_EQ(file.why(), status::file_error);
    EXPECT_NE(errno, 0);
}

TEST(file_map, more_than_there_are_addresses_is_a_lack_of_memory) {
    errno = 0;
    const mapped_file file(nullptr, std::size_t{1} << tenure::platform::user_address_bits);
    const bool is_too_large_a_file = errno == EFBIG; // for the file system of the folder
    EXPECT_EQ(file.memory(), nullptr);
    EXPECT_EQ(file.why(), is_too_large_a_file ? status::file_error : status::out_of_memory);
}

}
