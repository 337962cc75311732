// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/output_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using tenure::platform::output_file;

class output_files : public testing::Test {
protected:
    void SetUp() override { path_ = (folder_ / "a").string(); }
    [[nodiscard]] std::string content() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] std::ptrdiff_t file_count() const {
        return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
    }

    support::temporary_folder own_;
    const fs::path folder_ = own_.path();
    std::string path_;
};

TEST_F(output_files, appear_whole_and_replace_what_was_there) {
    std::ofstream(path_) << "old";
    {
        output_file file(path_);
        file.write("new ", 4);
        EXPECT_EQ(content(), "old");
        file.write("text", 4);
        EXPECT_TRUE(file.finish());
    }
    EXPECT_EQ(content(), "new text");
    EXPECT_EQ(file_count(), 1);
    struct stat found {};
    ASSERT_EQ(::stat(path_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U) << "only the user may read it";
}

TEST_F(output_files, that_are_not_finished_leave_nothing) {
    {
        output_file file(path_);
        file.write("half", 4);
    }
    EXPECT_EQ(file_count(), 0);
}

TEST_F(output_files, that_cannot_be_are_refused) {
    for (const std::string& path : {std::string{}, folder_.string() + "/no/a", std::string(10'000, 'x')}) {
        output_file file(path);
        file.write("x", 1);
        EXPECT_FALSE(file.finish()) << path.size();
    }
    EXPECT_EQ(file_count(), 0);
}

TEST_F(output_files, replace_no_device_or_pipe) {
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    output_file file(path_);
    file.write("x", 1);
    EXPECT_FALSE(file.finish());
    EXPECT_TRUE(fs::is_fifo(path_));
    EXPECT_EQ(file_count(), 1);
}

TEST_F(output_files, follow_no_link_that_somebody_put_there) {
    const std::string target = (folder_ / "target").string();
    std::ofstream(target) << "precious";
    fs::create_symlink(target, path_ + ".part");
    output_file file(path_);
    file.write("mine", 4);
    EXPECT_TRUE(file.finish());
    EXPECT_EQ(content(), "mine");
    std::ifstream precious(target);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(precious), {}), "precious");
}

// Programs close their standard output at the end, and others may still write to its number.
TEST_F(output_files, never_have_the_number_of_a_standard_file) {
    EXPECT_EXIT(
        {
            ::close(STDIN_FILENO);
            ::close(STDOUT_FILENO);
            output_file file(path_);
            file.write("mine", 4);
            const bool is_free = ::fcntl(STDIN_FILENO, F_GETFD) == -1 && ::fcntl(STDOUT_FILENO, F_GETFD) == -1;
            std::_Exit(is_free && file.finish() ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
    EXPECT_EQ(content(), "mine");
}

}
