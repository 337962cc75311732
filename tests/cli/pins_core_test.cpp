// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure pins --core` as its user runs it: its numbers against a profile that the program saved just before it ended.

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include <nlohmann/json.hpp>

#include "support/run_command.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

const std::string exact_profile = "TENURE_PROFILE=1 TENURE_PROFILE_SAMPLE=1 TENURE_PROFILE_PAGES=1 "
                                  "TENURE_PROFILE_SIGNAL=10 TENURE_PROFILE_DIR=. ";

class pins_core : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(command_path())) GTEST_SKIP() << command_path() << " was not built";
        drop_in_ = (fs::path(command_path()).parent_path() / "libtenure_malloc.so").string();
        if (!fs::exists(drop_in_)) GTEST_SKIP() << "this tree has no drop-in";
        program_ = (fs::read_symlink("/proc/self/exe").parent_path() / "pinned_program").string();
    }

    /// Runs a line of the shell in the folder.
    int shell(const std::string& line) const {
        const int status = std::system(("cd '" + folder_.string() + "' && " + line + " >said 2>&1").c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    /// Runs the program until it aborts, and has gdb write a core file.
    void make_core_by_gdb(const std::string& variables, const std::string& drop_in) const {
        ASSERT_EQ(shell(variables +
                        "gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set startup-with-shell off' "
                        "-iex 'set environment LD_PRELOAD " +
                        drop_in + "' -ex 'handle SIGUSR1 nostop noprint " + (variables.empty() ? "nopass" : "pass") +
                        "' -ex run -ex 'generate-core-file core.gdb' -ex kill --args '" + program_ + "' end"),
                  0)
            << text_of_file(folder_ / "said");
        ASSERT_TRUE(fs::exists(folder_ / "core.gdb")) << text_of_file(folder_ / "said");
    }
    [[nodiscard]] bool has_gdb() const { return shell("gdb -nx -batch -ex 'print 1'") == 0; }

    nlohmann::json json_of(const std::string& words) const {
        const auto found = run_command("pins " + words + " --json all.json", folder_.string());
        EXPECT_EQ(found.code, 0) << found.err;
        return nlohmann::json::parse(text_of_file(folder_ / "all.json"));
    }
    std::string saved_file() const {
        for (const auto& each : fs::directory_iterator(folder_))
            if (each.path().extension() == ".heapprofile") return each.path().filename().string();
        ADD_FAILURE() << "the program saved no profile\n" << text_of_file(folder_ / "said");
        return "";
    }

    /// Both are of the same heap. The core cannot tell pages that are resident and all zero, and the profile itself
    /// takes some memory between the two.
    void expect_same(const nlohmann::json& read, const nlohmann::json& saved) const {
        EXPECT_EQ(read["program"], saved["program"]);
        EXPECT_EQ(read["process"], saved["process"]);
        EXPECT_TRUE(read["is_exact"].get<bool>());
        EXPECT_EQ(read["unexplained_bytes"].get<double>(), 0);
        for (const char* const part : {"live_bytes", "held_bytes", "record_bytes"}) {
            const double expected = saved["parts"][part].get<double>();
            EXPECT_NEAR(read["parts"][part].get<double>(), expected, 0.01 * expected + 20'000) << part;
        }
        EXPECT_GT(read["parts"]["held_bytes"].get<double>(), 30e6);
        EXPECT_LE(read["resident_bytes"].get<double>(), 1.01 * saved["resident_bytes"].get<double>());
        EXPECT_GT(read["resident_bytes"].get<double>(), 0.9 * saved["resident_bytes"].get<double>());
        const nlohmann::json ours = stack_of(read), theirs = stack_of(saved);
        EXPECT_EQ(ours["live"], theirs["live"]);
        EXPECT_EQ(ours["frames"], theirs["frames"]) << "named alike";
        for (const char* const what : {"held", "given_back_when_freed"}) {
            const double expected = theirs[what]["bytes"].get<double>();
            EXPECT_NEAR(ours[what]["bytes"].get<double>(), expected, 0.001 * expected) << what;
        }
    }
    static nlohmann::json stack_of(const nlohmann::json& read) {
        for (const auto& stack : read["stacks"]) {
            for (const auto& frame : stack["frames"])
                if (frame["function"].get<std::string>().find("open_session") != std::string::npos) return stack;
        }
        ADD_FAILURE() << "open_session is not in " << read.dump(2);
        return {};
    }

    std::string drop_in_, program_;
    support::temporary_folder own_;
    const fs::path folder_ = own_.path();
};

TEST_F(pins_core, a_core_of_gdb_has_what_the_program_saved) {
    if (!has_gdb()) GTEST_SKIP() << "gdb is not installed";
    make_core_by_gdb(exact_profile, drop_in_);
    const nlohmann::json read = json_of("--core core.gdb --html page.html");
    EXPECT_TRUE(read["has_stacks"].get<bool>());
    expect_words(read["unknown"].dump(), {"which pages were in memory", "kernel's own count", "no time"});
    expect_same(read, json_of(saved_file()));
    expect_words(text_of_file(folder_ / "page.html"), {"<svg", "open_session", "Read from a core file."});
    const auto shown = run_command("pins --core core.gdb", folder_.string());
    expect_words(shown.out, {"resident in its core file\n", "held by blocks in use", "open_session"});
    // Moved to another machine: the program is elsewhere.
    fs::copy(program_, folder_ / "copy");
    EXPECT_EQ(stack_of(json_of("--core core.gdb --program copy"))["live"], stack_of(read)["live"]);
    const auto refused = run_command("pins --core core.gdb --program '" + command_path() + "'", folder_.string());
    EXPECT_EQ(refused.code, 2);
    expect_words(refused.err, {"core.gdb: ", "another build"});
}

// Its records lie between pages that no core has, and a quarantine keeps freed blocks.
TEST_F(pins_core, a_core_of_the_hardened_drop_in_has_what_the_program_saved) {
    const fs::path hardened = fs::path(drop_in_).parent_path() / "libtenure_malloc_hardened.so";
    if (!has_gdb()) GTEST_SKIP() << "gdb is not installed";
    if (!fs::exists(hardened)) GTEST_SKIP() << hardened << " was not built";
    make_core_by_gdb("TENURE_HEAP_GUARD_SAMPLE=0 TENURE_HEAP_GUARD_BYTES=0 " + exact_profile, hardened.string());
    expect_same(json_of("--core core.gdb"), json_of(saved_file()));
}

TEST_F(pins_core, a_core_of_the_kernel_has_what_the_program_saved) {
    const std::string pattern = text_of_file("/proc/sys/kernel/core_pattern");
    if (pattern.find('|') != std::string::npos || pattern.find('/') != std::string::npos)
        GTEST_SKIP() << "cores go elsewhere here: kernel.core_pattern is " << pattern;
    shell("(ulimit -c unlimited && LD_PRELOAD='" + drop_in_ + "' " + exact_profile + "'" + program_ + "' end)");
    std::string core;
    for (const auto& each : fs::directory_iterator(folder_))
        if (each.path().filename().string().rfind("core", 0) == 0) core = each.path().filename().string();
    if (core.empty()) GTEST_SKIP() << "the kernel wrote no core file: " << text_of_file(folder_ / "said");
    const nlohmann::json read = json_of("--core " + core);
    expect_same(read, json_of(saved_file()));
    expect_words(read["unknown"].dump(), {"without contents in the core"});
}

TEST_F(pins_core, without_a_profile_the_parts_are_shown_and_how_to_have_stacks) {
    if (!has_gdb()) GTEST_SKIP() << "gdb is not installed";
    make_core_by_gdb("", drop_in_);
    const auto shown = run_command("pins --core core.gdb --html page.html", folder_.string());
    EXPECT_EQ(shown.code, 0) << shown.err;
    expect_words(shown.out, {"held by blocks in use", "No heap profile was being recorded", "TENURE_PROFILE=1"});
    EXPECT_EQ(shown.out.find("by call stack"), std::string::npos) << shown.out;
    EXPECT_EQ(text_of_file(folder_ / "page.html").find("Who keeps it"), std::string::npos);
    const nlohmann::json read = json_of("--core core.gdb");
    EXPECT_FALSE(read["has_stacks"].get<bool>());
    EXPECT_GT(read["parts"]["held_bytes"].get<double>(), 30e6);
}

TEST_F(pins_core, other_files_and_options_are_refused) {
    const auto refused = [&](const std::string& words, std::initializer_list<std::string> said) {
        const auto found = run_command("pins " + words, folder_.string());
        EXPECT_EQ(found.code, 2) << words;
        expect_words(found.err, said);
    };
    std::ofstream(folder_ / "text") << "no core at all, and some more words to have a header's length in this file";
    refused("--core no-such-file", {"no-such-file cannot be read"});
    refused("--core .", {"is a directory"});
    refused("--core text", {"text: This is not a core file."});
    refused("--core '" + program_ + "'", {"not a core file", "--program"});
    refused("--core text --attach 1", {"leave out --attach"});
    refused("--core text -- true", {"leave out --attach"});
    refused("--core text --exact", {"--exact applies to a run"});
    refused("--program text x.heapprofile", {"--program belongs to --core"});
}

}
