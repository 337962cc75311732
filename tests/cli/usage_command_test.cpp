// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure usage`, run as a program.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "support/run_command.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

/// 50 of 40 MiB in frame 8, refused in frame 9; the second tag has no budget.
constexpr std::string_view log_text = R"({"format": "tenure frame usage", "version": 1, "frames": [7, 8, 9], "tags": [
{"name": "level loader", "limit_bytes": 62914560, "threshold_bytes": 41943040,
 "persistent_bytes": [1048576, 52428800, 2097152], "temp_job_bytes": [0, 0, 0], "temp_bytes": [0, 0, 0],
 "refusals": [0, 0, 2]},
{"name": "physics", "persistent_bytes": [9, 9, 9], "temp_job_bytes": [0, 8388608, 4194304],
 "temp_bytes": [1048576, 3145728, 2097152],
 "refusals": [0, 0, 0]}]})";

class usage_command : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(command_path())) GTEST_SKIP() << command_path() << " was not built";
        write("log.json", log_text);
    }
    void write(const char* name, std::string_view text) const { std::ofstream(fs::path{directory_} / name) << text; }
    [[nodiscard]] command_outcome run(const std::string& words) const {
        return run_command("usage " + words, directory_);
    }
    support::temporary_folder own_;
    const std::string directory_ = own_.path().string();
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST_F(usage_command, prints_a_line_for_each_tag) {
    const auto found = run("log.json");
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.err, "");
    EXPECT_TRUE(has(found.out, "3 frames; MiB at the end of each frame")) << found.out;
    const std::size_t at = found.out.find("\nlevel loader ");
    ASSERT_NE(at, std::string::npos) << found.out;
    const std::string line = found.out.substr(at + 1, found.out.find('\n', at + 1) - at - 1);
    EXPECT_TRUE(has(line, " 50")) << line; // peak
    EXPECT_TRUE(has(line, " 60")) << line; // limit
    EXPECT_TRUE(line.ends_with(" 2")) << line << ": frames 8 and 9 exceeded the budget, and 2 requests were refused";
    const std::size_t second = found.out.find("\nphysics ");
    ASSERT_NE(second, std::string::npos) << found.out;
    const std::string physics = found.out.substr(second + 1);
    std::istringstream words(physics);
    const std::vector<std::string> cells{std::istream_iterator<std::string>(words), {}};
    ASSERT_EQ(cells.size(), 10U) << physics;
    EXPECT_EQ(cells[3] + "," + cells[4], "8.00,4.00") << "TempJob";
    EXPECT_EQ(cells[5] + "," + cells[6], "3.00,2.00") << "Temp";
    EXPECT_EQ(cells[7] + cells[8] + cells[9], "-00");
}

TEST_F(usage_command, prints_the_same_as_json) {
    const auto found = run("log.json --json");
    EXPECT_EQ(found.code, 0) << found.err;
    const auto read = nlohmann::json::parse(found.out);
    EXPECT_EQ(read.at("frame_count"), 3);
    const auto& loader = read.at("tags").at(0);
    EXPECT_EQ(loader.at("name"), "level loader");
    EXPECT_EQ(loader.at("peak_bytes"), 52428800);
    EXPECT_EQ(loader.at("last_bytes"), 2097152);
    EXPECT_EQ(loader.at("limit_bytes"), 62914560);
    EXPECT_EQ(loader.at("threshold_bytes"), 41943040);
    EXPECT_EQ(loader.at("frames_exceeded"), 2);
    EXPECT_EQ(loader.at("refused"), 2);
    const auto& physics = read.at("tags").at(1);
    EXPECT_TRUE(physics.at("limit_bytes").is_null());
    EXPECT_EQ(physics.at("temp_job_peak_bytes"), 8388608);
    EXPECT_EQ(physics.at("temp_job_last_bytes"), 4194304);
    EXPECT_EQ(physics.at("temp_peak_bytes"), 3145728);
    EXPECT_EQ(physics.at("temp_last_bytes"), 2097152);
}

TEST_F(usage_command, writes_a_page) {
    const auto found = run("log.json --html page.html");
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_TRUE(has(text_of_file(fs::path{directory_} / "page.html"), "level loader"));
}

TEST_F(usage_command, says_why_a_file_or_page_is_refused) {
    const auto missing = run("none.json");
    EXPECT_EQ(missing.code, 2);
    EXPECT_EQ(missing.out, "");
    EXPECT_TRUE(has(missing.err, "none.json: cannot be read: No such file or directory")) << missing.err;
    write("empty.json", "");
    const auto empty = run("empty.json");
    EXPECT_EQ(empty.code, 2);
    EXPECT_TRUE(has(empty.err, "empty.json: is not a log of frame_usage_log::write()")) << empty.err;
    write("cut.json", log_text.substr(0, log_text.size() / 2));
    EXPECT_EQ(run("cut.json").code, 2);
    EXPECT_TRUE(has(run(".").err, "is a directory, not a file"));
    const auto no_page = run("log.json --html none/page.html");
    EXPECT_EQ(no_page.code, 3);
    EXPECT_EQ(no_page.out, "");
    EXPECT_TRUE(has(no_page.err, "none/page.html")) << no_page.err;
}

TEST_F(usage_command, says_how_it_is_called) {
    const auto help = run("--help");
    EXPECT_EQ(help.code, 0);
    for (const char* const part : {"FILE", "--html", "--json", "frame_usage_log", "Exit codes"})
        EXPECT_TRUE(has(help.out, part)) << part << "\nnot in\n" << help.out;
    EXPECT_TRUE(has(run_command("--help", directory_).out, "\n  tenure usage frames.json"));
    const auto without = run("");
    EXPECT_EQ(without.code, 2);
    EXPECT_TRUE(has(without.err, "`tenure usage --help`")) << without.err;
    EXPECT_EQ(run("log.json --jsno").code, 2);
}

}
