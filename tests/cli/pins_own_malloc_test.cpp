// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure pins --heap own` on glibc's malloc: its numbers against what the program measures when it frees the blocks.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

class pins_of_own_malloc : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(command_path())) GTEST_SKIP() << command_path() << " was not built";
        if (!fs::exists(fs::path(command_path()).parent_path() / "libtenure_blocks.so"))
            GTEST_SKIP() << "this tree has no library that records blocks";
    }

    command_outcome examined(const std::string& words, const std::string& program) const {
        return run_command("pins --heap own " + words + " -- " + program, folder_.string());
    }
    nlohmann::json json_of(const std::string& words, const std::string& program, int code) const {
        const auto found = examined(words + " --json all.json", program);
        EXPECT_EQ(found.code, code) << "the program's own\n" << found.err;
        return nlohmann::json::parse(text_of_file(folder_ / "all.json"));
    }
    static std::string program(const std::string& name) {
        return (fs::read_symlink("/proc/self/exe").parent_path() / name).string();
    }
    /// The profiles in a folder whose names contain this.
    [[nodiscard]] std::vector<std::string> profiles(const std::string& folder, const std::string& part) const {
        std::vector<std::string> found;
        for (const auto& each : fs::directory_iterator(folder_ / folder)) {
            const std::string name = each.path().string();
            if (name.ends_with(".heapprofile") && name.find(part) != std::string::npos) found.push_back(name);
        }
        return found;
    }

    support::temporary_folder own_;
    const fs::path folder_ = own_.path();
};

double of(const nlohmann::json& read, const char* part) { return read["parts"][part].get<double>(); }

TEST_F(pins_of_own_malloc, names_who_keeps_memory_and_says_what_it_does_not_know) {
    const auto found = examined("--out here --sample 16K", program("pinned_program"));
    EXPECT_EQ(found.code, 4) << found.err;
    expect_words(found.err, {"memory of pinned_program [", "The program's own malloc (libc.so", "is not known",
                             "a pool, an arena", "open_session"});
    EXPECT_LT(found.err.find("open_session"), found.err.find("load_table")) << "it holds most\n" << found.err;
    expect_words(text_of_file(folder_ / "here/pins.html"), {"<svg", "open_session", "own malloc (libc.so"});
    const auto shown = run_command("pins '" + profiles("here", ".exit.").at(0) + "'");
    EXPECT_EQ(shown.code, 0) << shown.err;
    expect_words(shown.out, {"The program's own malloc (libc.so", "open_session"});
}

TEST_F(pins_of_own_malloc, the_parts_add_up_to_the_resident_memory) {
    const nlohmann::json read = json_of("--exact --out here", program("pinned_program"), 4);
    EXPECT_NE(read["malloc"].get<std::string>().find("libc.so"), std::string::npos);
    EXPECT_EQ(read["unknown"].size(), 2u);
    double sum = read["unexplained_bytes"].get<double>();
    for (const auto& [name, bytes] : read["parts"].items()) sum += bytes.get<double>();
    EXPECT_EQ(sum, read["resident_bytes"].get<double>());
    // Every block is known: the table and 10,000 sessions of 200 bytes; hardly anything else is in use.
    const double in_use = (20 << 20) + 10'000.0 * 200;
    EXPECT_NEAR(of(read, "live_bytes"), in_use, 0.02 * in_use);
    // What is held is divided among the stacks, without a rest.
    EXPECT_NEAR(read["held"]["bytes"].get<double>(), of(read, "held_bytes"), 0.001 * of(read, "held_bytes"));
    EXPECT_LT(of(read, "held_bytes"), 10'000.0 * 2 * 4096);
}

TEST_F(pins_of_own_malloc, what_it_says_is_what_freeing_the_blocks_gives_back) {
    const auto measured = run_command("run --heap system -- '" + program("pinned_program") + "' measure");
    const double given_back = std::atof(measured.out.c_str());
    ASSERT_GT(given_back, 10e6) << measured.out << measured.err;
    const nlohmann::json sessions =
        stack_of(json_of("--exact --out exact", program("pinned_program"), 4), "open_session");
    EXPECT_NEAR(sessions["live"]["blocks"].get<double>(), 10'000, 0.5);
    EXPECT_NEAR(sessions["given_back_when_freed"]["bytes"].get<double>(), given_back, 0.1 * given_back);
    // Six standard errors: one run in 10^9 fails by chance.
    const nlohmann::json sampled =
        stack_of(json_of("--sample 8K --out sampled", program("pinned_program"), 4), "open_session");
    for (const char* const what : {"held", "given_back_when_freed"}) {
        EXPECT_NEAR(sampled[what]["bytes"].get<double>(), sessions[what]["bytes"].get<double>(),
                    6 / 1.96 * sampled[what]["error_bytes"].get<double>())
            << what;
        EXPECT_GT(sampled[what]["error_bytes"].get<double>(), 0) << what;
    }
}

TEST_F(pins_of_own_malloc, every_way_to_allocate_and_free_is_seen) {
    const nlohmann::json read = json_of("--exact --out here", program("blocks_program"), 0);
    const nlohmann::json kept = stack_of(read, "keep_blocks");
    EXPECT_NEAR(kept["live"]["blocks"].get<double>(), 1000, 0.01);
    EXPECT_NEAR(kept["live"]["bytes"].get<double>(), 1000 * 504, 0.5) << "the usable bytes of glibc's blocks";
    // All else is freed, but for what the C and C++ libraries keep.
    for (const auto& stack : read["stacks"]) {
        const auto& innermost = stack["frames"].at(0);
        if (!innermost["module"].get<std::string>().ends_with("blocks_program")) continue;
        EXPECT_NE(innermost["function"].get<std::string>().find("keep_blocks"), std::string::npos) << stack.dump(2);
    }
    // The child of the fork has saved its own.
    EXPECT_EQ(profiles("here", ".exit.").size(), 2u);
}

TEST_F(pins_of_own_malloc, saves_at_intervals_at_the_peak_and_at_a_signal) {
    ASSERT_EQ(examined("--every 10ms --at-peak --sample 4K --out here", program("pinned_program")).code, 4);
    EXPECT_EQ(profiles("here", ".exit.").size(), 1u);
    EXPECT_EQ(profiles("here", ".peak.").size(), 1u);
    EXPECT_GE(profiles("here", ".0001.").size(), 1u);
    const auto peak = run_command("pins '" + profiles("here", ".peak.").at(0) + "' --json -");
    ASSERT_EQ(peak.code, 0) << peak.err;
    EXPECT_GT(stack_of(nlohmann::json::parse(peak.out), "begin_request")["live"]["bytes"].get<double>(), 25e6);

    const auto script = folder_ / "signal.sh";
    std::ofstream(script) << "mkdir signal; mkfifo in\nTENURE_PROFILE_SIGNAL=12 '" << command_path()
                          << "' pins --heap own --sample 1K --out signal -- '" << program("blocks_program")
                          << "' wait < in > out 2> err &\nexec 3> in\n"
                             "until grep -q ready out; do sleep 0.01; done\n"
                             "kill -12 $(cat /proc/$!/task/$!/children)\n"
                             "until ls signal | grep -q '[.]0001[.]heapprofile$'; do sleep 0.01; done\n"
                             "exec 3>&-\nwait $!\n";
    const std::string run = "cd '" + folder_.string() + "' && timeout 60 sh signal.sh > log 2>&1";
    ASSERT_EQ(std::system(run.c_str()), 0) << text_of_file(folder_ / "err") << text_of_file(folder_ / "log");
    const auto shown = run_command("pins '" + profiles("signal", ".0001.").at(0) + "'");
    EXPECT_EQ(shown.code, 0) << shown.err;
    expect_words(shown.out, {"keep_blocks"});
}

TEST_F(pins_of_own_malloc, what_a_shrunk_block_gave_back_is_no_longer_the_mallocs) {
    const nlohmann::json read = json_of("--exact --out here", program("blocks_program") + " shrink", 0);
    EXPECT_LT(of(read, "free_bytes"), 8e6);
    EXPECT_GT(of(read, "other_bytes"), 48e6) << "the program's own mapping";
}

TEST_F(pins_of_own_malloc, a_runtime_of_cpp_that_comes_late_is_found_and_leaves_no_error) {
    EXPECT_EQ(examined("--exact --out here", program("late_runtime_program")).code, 5);
}

TEST_F(pins_of_own_malloc, refuses_what_it_cannot_observe) {
    const auto found = examined("--out here", program("own_malloc_program"));
    EXPECT_EQ(found.code, 3) << "the program's own";
    expect_words(found.err, {"own_malloc_program has a malloc built in", "saved no profile"});
    EXPECT_EQ(run_command("pins --heap jemalloc -- true").code, 2);
    const auto attached = run_command("pins --heap own --attach 1");
    EXPECT_EQ(attached.code, 2);
    expect_words(attached.err, {"--heap applies to a run"});
}

}
