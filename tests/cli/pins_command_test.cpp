// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure pins` as its user runs it, and its numbers against what the program measures when it frees the blocks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/pins_stacks.hpp"
#include "support/own_path.hpp"
#include "support/run_command.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

using support::stack_of;

class pins_command : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(command_path())) GTEST_SKIP() << command_path() << " was not built";
        if (!fs::exists(fs::path(command_path()).parent_path() / "libtenure_malloc.so"))
            GTEST_SKIP() << "this tree has no drop-in";
    }

    command_outcome examined(const std::string& words, const std::string& program = program_path()) const {
        return run_command("pins " + words + " -- " + program, folder_.string());
    }
    nlohmann::json json_of(const std::string& words) const {
        const auto found = examined(words + " --json all.json");
        EXPECT_EQ(found.code, 4) << "the program's own\n" << found.err;
        return nlohmann::json::parse(text_of_file(folder_ / "all.json"));
    }
    static std::string program_path() {
        return (fs::read_symlink("/proc/self/exe").parent_path() / "pinned_program").string();
    }

    support::temporary_folder own_;
    const fs::path folder_ = own_.path();
};

TEST_F(pins_command, names_who_keeps_memory_from_going_back) {
    const auto found = examined("--out here --sample 16K");
    EXPECT_EQ(found.code, 4) << found.err;
    expect_words(found.err, {"memory of pinned_program [", " resident at the program's end\n", "held by blocks in use",
                             "open_session", "in pages of their own", "here/pins.html"});
    EXPECT_LT(found.err.find("open_session"), found.err.find("load_table")) << "it holds most\n" << found.err;
    expect_words(text_of_file(folder_ / "here/pins.html"),
                 {"<svg", "class=\"t0\"", "open_session", "Content-Security-Policy"});
}

TEST_F(pins_command, without_options_one_file_is_saved_at_the_end) {
    const nlohmann::json read = json_of("");
    EXPECT_EQ(read["mean_bytes"], 16 * 1024);
    EXPECT_EQ(read["is_exact"], false);
    EXPECT_EQ(read["is_calibrated"], true);
    EXPECT_FALSE(read.contains("over_time"));
    std::vector<std::string> folders, files;
    for (const auto& each : fs::directory_iterator(folder_))
        if (each.is_directory()) folders.push_back(each.path().filename().string());
    ASSERT_EQ(folders.size(), 1u);
    EXPECT_TRUE(folders[0].starts_with("tenure-pins-")) << folders[0];
    for (const auto& each : fs::directory_iterator(folder_ / folders[0]))
        if (each.path().extension() == ".heapprofile") files.push_back(each.path().string());
    ASSERT_EQ(files.size(), 1u);
    EXPECT_TRUE(files[0].ends_with(".exit.heapprofile")) << files[0];
    const nlohmann::json exact = json_of("--exact --out exact");
    EXPECT_EQ(exact["mean_bytes"], 1);
    EXPECT_EQ(exact["is_exact"], true);
    expect_words(run_command("pins --help").out, {"1000000=10 ", "1000000=6 ", "--for TIME=10s "});
}

TEST_F(pins_command, the_parts_add_up_to_the_resident_memory) {
    const nlohmann::json read = json_of("--out here");
    const double resident = read["resident_bytes"].get<double>();
    EXPECT_LT(std::abs(read["unexplained_bytes"].get<double>()), 0.01 * resident);
    double sum = read["unexplained_bytes"].get<double>();
    for (const auto& [name, bytes] : read["parts"].items()) sum += bytes.get<double>();
    EXPECT_EQ(sum, resident);
    // The table and 10,000 sessions, in blocks of 208 bytes, are in use; hardly anything else is.
    const double in_use = (20 << 20) + 10'000.0 * 208;
    EXPECT_NEAR(read["parts"]["live_bytes"].get<double>(), in_use, 0.02 * in_use);
    // The sessions lie in at least 10,000 / 40 pages of 41 blocks, and in 10,000 pages at most.
    EXPECT_GT(read["parts"]["held_bytes"].get<double>(), 10e6);
    EXPECT_LT(read["parts"]["held_bytes"].get<double>(), 10'000.0 * 4096);
    EXPECT_GT(read["parts"]["other_bytes"].get<double>(), 1e6) << "the C library alone has more";
}

TEST_F(pins_command, what_it_says_is_what_freeing_the_blocks_gives_back) {
    const auto measured = run_command("run -- '" + program_path() + "' measure", folder_.string());
    const double given_back = std::atof(measured.out.c_str());
    ASSERT_GT(given_back, 10e6) << measured.out << measured.err;
    const nlohmann::json sessions = stack_of(json_of("--exact --out exact"), "open_session");
    EXPECT_NEAR(sessions["live"]["blocks"].get<double>(), 10'000, 0.5);
    EXPECT_NEAR(sessions["given_back_when_freed"]["bytes"].get<double>(), given_back, 0.1 * given_back);
    // Six standard errors: one run in 10^9 fails by chance.
    const nlohmann::json sampled = stack_of(json_of("--sample 8K --out sampled"), "open_session");
    for (const char* const what : {"held", "given_back_when_freed"}) {
        EXPECT_NEAR(sampled[what]["bytes"].get<double>(), sessions[what]["bytes"].get<double>(),
                    6 / 1.96 * sampled[what]["error_bytes"].get<double>())
            << what;
        EXPECT_GT(sampled[what]["error_bytes"].get<double>(), 0) << what;
    }
}

TEST_F(pins_command, shows_the_memory_at_the_peak) {
    const nlohmann::json peak = json_of("--at-peak --out here");
    // The requests are live then: they hold next to nothing, and the sessions between them neither.
    // Just after a file was saved, the next one waits for twice as much.
    EXPECT_GT(stack_of(peak, "begin_request")["live"]["bytes"].get<double>(), 25e6);
    EXPECT_LT(peak["held"]["bytes"].get<double>(), 10e6);
}

TEST_F(pins_command, several_files_show_the_memory_over_time) {
    // A file each 20 ms at most, and at the end; on a slow machine few, so the last two are enough.
    const auto found = examined("--every 20ms --out here --json all.json");
    ASSERT_EQ(found.code, 4) << found.err;
    std::vector<std::string> files;
    for (const auto& each : fs::directory_iterator(folder_ / "here"))
        if (each.path().extension() == ".heapprofile") files.push_back(each.path().string());
    std::sort(files.begin(), files.end());
    ASSERT_GT(files.size(), 1u);
    expect_words(found.err, {"over time, " + std::to_string(files.size()) + " files", "at the end"});
    const nlohmann::json read = nlohmann::json::parse(text_of_file(folder_ / "all.json"));
    ASSERT_EQ(read["over_time"].size(), files.size());
    EXPECT_EQ(read["over_time"].back()["parts"], read["parts"]);
    EXPECT_LT(read["over_time"][0]["saved_ms"], read["over_time"].back()["saved_ms"]);
    const std::string page = text_of_file(folder_ / "here/pins.html");
    expect_words(page, {"Over time", "class=\"a0\"", "<details class=\"moment\"><summary>map after "});
    const auto folder = run_command("pins here", folder_.string());
    EXPECT_EQ(folder.code, 0) << folder.err;
    expect_words(folder.out, {"over time, " + std::to_string(files.size()) + " files", "open_session"});
    const auto two = run_command("pins '" + files.back() + "' '" + files.front() + "'", folder_.string());
    EXPECT_EQ(two.code, 0) << two.err;
    expect_words(two.out, {"over time, 2 files"});
    // Of a folder with several processes, one is shown, and the others are named.
    ASSERT_EQ(examined("--out several", "sh -c '" + program_path() + "; " + program_path() + "'").code, 4);
    const auto several = run_command("pins several", folder_.string());
    EXPECT_EQ(several.code, 0) << several.err;
    expect_words(several.out, {"memory of pinned_program [", "open_session"});
    expect_words(several.err, {"1 of other processes, for `tenure pins FILE`", "several/pinned_program."});
    ASSERT_EQ(examined("--out other").code, 4);
    for (const auto& each : fs::directory_iterator(folder_ / "other")) {
        if (each.path().extension() != ".heapprofile") continue;
        const auto mixed = run_command("pins '" + files.back() + "' '" + each.path().string() + "'");
        EXPECT_EQ(mixed.code, 2);
        expect_words(mixed.err, {"name files of one process"});
    }
}

TEST_F(pins_command, shows_a_saved_file_and_refuses_others) {
    const auto refused = [&](const std::string& words, int code, std::initializer_list<std::string> said) {
        const auto found = run_command("pins " + words, folder_.string());
        EXPECT_EQ(found.code, code) << words;
        expect_words(found.err, said);
    };
    refused("", 2, {"nothing was given to show"});
    refused("--every 5 -- true", 2, {"--every 5 is not valid"});
    refused("--exact --sample 4K -- true", 2, {"contradict"});
    refused("--exact x.heapprofile", 2, {"--exact applies to a run"});
    refused("--at-peak x.heapprofile", 2, {"--at-peak applies to a run"});
    refused("--html - --json - x.heapprofile", 2, {"standard output takes one"});
    refused("--attach 1 -- true", 2, {"--attach"});
    refused("--for 5s -- true", 2, {"--attach PID"});
    refused("no.heapprofile", 2, {"no.heapprofile"});
    refused("a.heapprofile b.heapprofile", 2, {"b.heapprofile"});
    refused("a.heapprofile .", 2, {"one folder"});
    refused(". a.heapprofile", 2, {"one folder"});
    fs::create_directory(folder_ / "empty");
    refused("empty", 2, {"empty contains no heap profile"});
    fs::create_directory(folder_ / "sh");
    EXPECT_EQ(run_command("pins --out here -- sh -c 'exit 7'", folder_.string()).code, 7)
        << "the program, not the folder";
    refused("--html no-folder/x -- true", 3, {"no-folder"});
    ASSERT_EQ(examined("--out with").code, 4);
    ASSERT_EQ(run_command("profile --out without -- " + program_path(), folder_.string()).code, 4);
    for (const char* const folder : {"with", "without"}) {
        for (const auto& each : fs::directory_iterator(folder_ / folder)) {
            if (each.path().extension() != ".heapprofile") continue;
            const auto found = run_command("pins '" + each.path().string() + "'");
            const bool has_pages = std::string{folder} == "with";
            EXPECT_EQ(found.code, has_pages ? 0 : 2) << found.err;
            expect_words(has_pages ? found.out : found.err, {has_pages ? "open_session" : "TENURE_PROFILE_PAGES=1"});
        }
    }
}

}
