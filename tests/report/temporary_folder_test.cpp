// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/temporary_folder.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

void put_a_file_in(const std::string& folder) {
    fs::create_directories(folder + "/deeper");
    std::ofstream(folder + "/deeper/file") << "text";
}

TEST(temporary_folder, is_removed_with_all_that_is_in_it) {
    std::string path;
    {
        const temporary_folder folder("tenure-test-");
        ASSERT_TRUE(folder.is_there()) << folder.refusal();
        path = folder.path();
        EXPECT_EQ(fs::path(path).parent_path(), fs::temp_directory_path());
        EXPECT_EQ(fs::path(path).filename().string().rfind("tenure-test-", 0), 0u) << path;
        put_a_file_in(path);
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(temporary_folder, gives_access_to_nobody_else) {
    const temporary_folder folder("tenure-test-");
    struct stat about {};
    ASSERT_EQ(::stat(folder.path().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0700U);
}

TEST(temporary_folder, says_why_it_cannot_be_made) {
    const temporary_folder folder("tenure-test-", "/proc/nowhere");
    EXPECT_FALSE(folder.is_there());
    EXPECT_EQ(folder.refusal().rfind("/proc/nowhere: ", 0), 0u) << folder.refusal();
}

TEST(temporary_folder, stays_when_it_was_left_to_the_caller) {
    std::string path;
    {
        temporary_folder folder("tenure-test-");
        path = folder.leave();
        EXPECT_FALSE(folder.is_there());
    }
    EXPECT_TRUE(fs::is_directory(path));
    fs::remove_all(path);
}

TEST(temporary_folder, moves_with_its_owner) {
    temporary_folder kept;
    EXPECT_FALSE(kept.is_there());
    {
        temporary_folder folder("tenure-test-");
        kept = std::move(folder);
    }
    EXPECT_TRUE(fs::is_directory(kept.path()));
    const std::string path = kept.path();
    kept = temporary_folder();
    EXPECT_FALSE(fs::exists(path));
}

}

}
