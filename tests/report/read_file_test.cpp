// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/read_file.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "report/json/json.hpp"
#include "support/own_path.hpp"

namespace tenure::lab {

namespace {

class read_file_test : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path); }
    std::string path = support::own_path("read-file");
};

TEST_F(read_file_test, all_of_a_file_is_read) {
    const std::string text(3 << 20, 'x');
    std::ofstream(path) << text;
    const file_text read = read_file(path, text.size());
    EXPECT_TRUE(read.ok()) << read.error;
    EXPECT_EQ(read.text, text);
    std::ofstream(path, std::ios::trunc) << "";
    EXPECT_EQ(read_file(path, 10).text, "");
}

TEST_F(read_file_test, more_than_the_limit_is_refused) {
    std::ofstream(path) << "12345";
    EXPECT_TRUE(read_file(path, 5).ok());
    const file_text refused = read_file(path, 4);
    EXPECT_NE(refused.error.find("larger"), std::string::npos) << refused.error;
    EXPECT_EQ(refused.text, "");
    // Of a file in /proc nobody knows how long it is: it grows past the limit while it is read.
    EXPECT_NE(read_file("/proc/self/maps", 10).error.find("larger"), std::string::npos);
}

TEST_F(read_file_test, what_is_no_regular_file_is_refused_at_once) {
    EXPECT_NE(read_file("/", 10).error.find("directory"), std::string::npos);
    EXPECT_NE(read_file("/dev/zero", 10).error.find("not a regular file"), std::string::npos);
    EXPECT_NE(read_file("/nowhere/at/all", 10).error.find("cannot be read"), std::string::npos);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_NE(read_file(path, 10).error.find("not a regular file"), std::string::npos) << "nobody writes to it";
}

TEST_F(read_file_test, a_result_is_read_from_nothing_else) {
    for (const char* name : {"/dev/zero", "/proc/self/task"}) {
        const loaded_result loaded = load_json(name);
        EXPECT_FALSE(loaded.ok()) << name;
        EXPECT_NE(loaded.error.find(name), std::string::npos) << loaded.error;
    }
}

}

}
