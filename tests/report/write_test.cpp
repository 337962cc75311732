// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/write.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "support/own_path.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

class write : public testing::Test {
protected:
    void SetUp() override {
        directory_ = support::own_path("write");
        fs::remove_all(directory_);
    }
    void TearDown() override { fs::remove_all(directory_); }

    fs::path directory_;
};

std::string content_of(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST_F(write, every_file_is_there) {
    ASSERT_EQ(write_all(fixture::small_result(), directory_ / "deep" / "er"), "");
    for (const char* name :
         {"results.json", "results.csv", "report.html", "lifetimes/tenure-temp_cold_times.csv",
          "lifetimes/tenure-temp_cold_distances.csv", "lifetimes/tenure-temp_cold_buckets.csv", "lifetimes.svg"}) {
        EXPECT_GT(content_of(directory_ / "deep" / "er" / name).size(), 10U) << name;
    }
    EXPECT_FALSE(fs::exists(directory_ / "deep/er/through-put.svg")) << "it declares no primary figure";
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory_)) {
        EXPECT_NE(entry.path().extension(), ".partial");
    }
}

TEST_F(write, the_name_of_an_experiment_cannot_leave_the_directory) {
    result found = fixture::small_result();
    found.experiments[0].name = "../../escape";
    ASSERT_EQ(write_all(found, directory_ / "inner"), "");
    EXPECT_TRUE(fs::is_directory(directory_ / "inner" / "escape"));
    EXPECT_TRUE(fs::exists(directory_ / "inner" / "escape.svg"));
    EXPECT_FALSE(fs::exists(directory_.parent_path() / "escape.svg"));
    EXPECT_FALSE(fs::exists(directory_.parent_path() / "escape"));
}

TEST_F(write, a_second_time_replaces_the_first) {
    ASSERT_EQ(write_all(fixture::plausible_result(), directory_), "");
    ASSERT_EQ(write_all(fixture::small_result(), directory_), "");
    EXPECT_LT(content_of(directory_ / "results.json").size(), 10'000U);
}

TEST_F(write, a_file_where_the_directory_should_be_is_named) {
    fs::create_directories(directory_);
    std::ofstream(directory_ / "taken") << "x";
    const std::string error = write_all(fixture::small_result(), directory_ / "taken");
    EXPECT_EQ(error, (directory_ / "taken").string() + ": cannot create the folder: Not a directory");
}

TEST_F(write, a_full_disk_is_reported_and_the_old_file_kept) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
    fs::create_directories(directory_);
    std::ofstream(directory_ / "results.csv") << "old";
    fs::create_symlink("/dev/full", directory_ / "results.csv.partial");
    const std::string error = write_file(directory_ / "results.csv", std::string(1 << 20, 'x'));
    EXPECT_NE(error.find("results.csv: cannot write the file: No space left on device"), std::string::npos) << error;
    EXPECT_EQ(content_of(directory_ / "results.csv"), "old");
}

TEST_F(write, a_pipe_receives_the_text_and_stays_a_pipe) {
    fs::create_directories(directory_);
    const fs::path pipe = directory_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string received;
    std::thread reader([&] { received = content_of(pipe); });
    EXPECT_EQ(write_file(pipe, "text"), "");
    reader.join();
    EXPECT_EQ(received, "text");
    EXPECT_TRUE(fs::is_fifo(pipe));
    if (!fs::exists("/dev/full")) return;
    fs::create_symlink("/dev/full", directory_ / "link");
    EXPECT_NE(write_file(directory_ / "link", "text").find("No space left on device"), std::string::npos);
    EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
}

TEST_F(write, a_symbolic_link_stays_and_its_target_is_written) {
    fs::create_directories(directory_ / "inner");
    std::ofstream(directory_ / "inner/target") << "old";
    fs::create_symlink("inner/target", directory_ / "link");
    fs::create_symlink("link", directory_ / "second");
    fs::create_symlink("inner/new", directory_ / "dangling");
    EXPECT_EQ(write_file(directory_ / "second", "text"), "");
    EXPECT_EQ(write_file(directory_ / "dangling", "new text"), "");
    for (const char* const each : {"link", "second", "dangling"})
        EXPECT_TRUE(fs::is_symlink(directory_ / each)) << each;
    EXPECT_EQ(content_of(directory_ / "inner/target"), "text");
    EXPECT_EQ(content_of(directory_ / "inner/new"), "new text");
    EXPECT_FALSE(fs::exists(directory_ / "inner/target.partial"));
    fs::create_symlink("circle", directory_ / "circle");
    EXPECT_NE(write_file(directory_ / "circle", "x").find("circle: cannot write the file"), std::string::npos);
    fs::create_symlink("no-folder/file", directory_ / "nowhere");
    EXPECT_NE(write_file(directory_ / "nowhere", "x").find("nowhere: cannot write the file: No such file"),
              std::string::npos);
}

TEST_F(write, a_directory_in_the_way_of_a_file_is_reported) {
    fs::create_directories(directory_ / "report.html" / "inside");
    const std::string error = write_all(fixture::small_result(), directory_);
    EXPECT_NE(error.find("report.html: cannot write the file"), std::string::npos) << error;
}

}

}
