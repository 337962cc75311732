// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure profile` as its user runs it.

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/own_path.hpp"
#include "support/run_command.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

/// A folder for the files of each test. The program is this test's own: see hold_and_release().
class profile_command : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(command_path())) GTEST_SKIP() << command_path() << " was not built";
        if (!fs::exists(fs::path(command_path()).parent_path() / "libtenure_malloc.so"))
            GTEST_SKIP() << "this tree has no drop-in";
    }

    /// Runs the program under `tenure profile WORDS`.
    command_outcome profiled(const std::string& words, const std::string& program = program_path()) const {
        return run_command("profile " + words + " -- " + program, folder_.string());
    }
    static std::string program_path() {
        return (fs::read_symlink("/proc/self/exe").parent_path() / "profiled_program").string();
    }

    support::temporary_folder own_;
    const fs::path folder_ = own_.path();
};

TEST_F(profile_command, names_who_holds_the_memory) {
    const auto found = profiled("--out here --sample 16K");
    EXPECT_EQ(found.code, 3) << "the program's own\n" << found.err;
    EXPECT_EQ(found.out, "the program's own output\n");
    expect_words(found.err, {"heap profile of profiled_program [", "one byte in 16.0 KiB is sampled",
                             "bytes live at the peak, by call stack", "hold_sessions", "load_once",
                             "here/profile.html, profile.pb.gz, profile.folded"});
    for (const char* const each : {"profile.html", "profile.pb.gz", "profile.folded"})
        EXPECT_GT(fs::file_size(folder_ / "here" / each), 100u) << each;
    expect_words(text_of_file(folder_ / "here/profile.folded"), {"profiled_program;", "hold_sessions"});
}

/// The bytes of the stacks with this function.
double bytes_of(const nlohmann::json& read, const char* what, const std::string& function) {
    double bytes = 0;
    for (const auto& stack : read["stacks"]) {
        const bool has = std::any_of(stack["frames"].begin(), stack["frames"].end(), [&](const auto& frame) {
            return frame["function"].template get<std::string>().find(function) != std::string::npos;
        });
        if (has) bytes += stack[what]["bytes"].template get<double>();
    }
    return bytes;
}

TEST_F(profile_command, without_options_one_file_is_saved_at_the_end) {
    const auto found = profiled("--json all.json");
    ASSERT_EQ(found.code, 3) << found.err;
    EXPECT_EQ(nlohmann::json::parse(text_of_file(folder_ / "all.json"))["mean_bytes"], 512 * 1024);
    std::vector<std::string> folders, files;
    for (const auto& each : fs::directory_iterator(folder_))
        if (each.is_directory()) folders.push_back(each.path().filename().string());
    ASSERT_EQ(folders.size(), 1u);
    EXPECT_TRUE(folders[0].starts_with("tenure-profile-")) << folders[0];
    for (const auto& each : fs::directory_iterator(folder_ / folders[0]))
        if (each.path().extension() == ".heapprofile") files.push_back(each.path().string());
    ASSERT_EQ(files.size(), 1u);
    EXPECT_TRUE(files[0].ends_with(".exit.heapprofile")) << files[0];
    const auto help = run_command("profile --help");
    expect_words(help.out, {"1000000=10 ", "1000000=6 ", "--for TIME=10s "});
}

TEST_F(profile_command, estimates_what_the_program_allocated) {
    const auto found = profiled("--out here --sample 4K --json all.json");
    ASSERT_EQ(found.code, 3) << found.err;
    const nlohmann::json read = nlohmann::json::parse(text_of_file(folder_ / "all.json"));
    // What the program says of itself: 40,000 blocks of 500 bytes (class 512) held, 64 MiB loaded and freed, and
    // 400,000 requests of 100 bytes (class 112) answered. Six standard errors: one run in 10^9 fails by chance.
    const double held = 40'000.0 * 512, loaded = 67'108'864, answered = 400'000.0 * 112;
    const auto error = [](double bytes) { return 6 * std::sqrt(bytes * 4096) + 0.01 * bytes; };
    EXPECT_NEAR(bytes_of(read, "live", "hold_sessions"), held, error(held));
    EXPECT_NEAR(bytes_of(read, "at_peak", "load_once"), loaded, error(loaded));
    EXPECT_EQ(bytes_of(read, "live", "load_once"), 0);
    EXPECT_NEAR(bytes_of(read, "allocated", "answer_requests"), answered, error(answered));
    EXPECT_EQ(bytes_of(read, "live", "answer_requests"), 0);
    EXPECT_EQ(read["program"], "profiled_program");
}

TEST_F(profile_command, shows_converts_and_compares_saved_files) {
    ASSERT_EQ(profiled("--out one --sample 16K").code, 3);
    ASSERT_EQ(profiled("--out two --sample 16K", program_path() + " twice").code, 3);
    fs::path files[2];
    for (int each = 0; each < 2; ++each) {
        for (const auto& entry : fs::directory_iterator(folder_ / (each == 0 ? "one" : "two"))) {
            if (entry.path().string().ends_with(".heapprofile")) files[each] = entry.path();
        }
    }
    const std::string one = "'" + files[0].string() + "'", two = "'" + files[1].string() + "'";
    const auto shown = run_command("profile --by live " + one);
    EXPECT_EQ(shown.code, 0) << shown.err;
    expect_words(shown.out, {"bytes live, by call stack", "hold_sessions"});
    const auto folded = run_command("profile --folded - --by live " + one);
    EXPECT_EQ(folded.out.find("heap profile of"), std::string::npos) << "standard output is taken";
    expect_words(folded.out, {"profiled_program;"});
    const auto difference = run_command("profile --diff " + one + " " + two);
    EXPECT_EQ(difference.code, 0) << difference.err;
    expect_words(difference.out, {"bytes live: ", "  1  +", "hold_sessions"});
    EXPECT_EQ(run_command("profile --pprof '" + (folder_ / "x.pb.gz").string() + "' " + one).code, 0);
    EXPECT_EQ(text_of_file(folder_ / "x.pb.gz").substr(0, 2), "\x1F\x8B");
    for (const std::string form : {"html", "json", "folded", "pprof"}) {
        fs::create_symlink("target." + form, folder_ / form);
        EXPECT_EQ(run_command("profile --" + form + " " + form + " " + one, folder_.string()).code, 0);
        EXPECT_TRUE(fs::is_symlink(folder_ / form)) << form;
        EXPECT_GT(fs::file_size(folder_ / ("target." + form)), 50u) << form;
    }
    const std::string packed =
        "'" + (folder_ / "one/profile.pb.gz").string() + "' '" + (folder_ / "two/profile.pb.gz").string() + "'";
    const auto of_pprof = run_command("profile --diff " + packed);
    EXPECT_EQ(of_pprof.code, 0) << of_pprof.err;
    expect_words(of_pprof.out, {"bytes live: ", "  1  +", "hold_sessions"});
    EXPECT_EQ(run_command("profile --by allocated --diff " + one + " '" + (folder_ / "x.pb.gz").string() + "'").code,
              0);
    EXPECT_EQ(run_command("profile --at-peak --diff " + packed).code, 2) << "the format has none";
    EXPECT_EQ(run_command("profile --html '" + (folder_ / "no/x.html").string() + "' " + one).code, 3);
}

/// The bytes that pprof shows for a function, in its own memory and in what it calls.
double bytes_in_pprof(const std::string& text, const std::string& function) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string flat, flat_share, sum_share, cumulative;
        words >> flat >> flat_share >> sum_share >> cumulative;
        if (line.ends_with(function) && !line.ends_with('_' + function) && cumulative.ends_with('B'))
            return std::stod(cumulative);
    }
    return -1;
}

TEST_F(profile_command, is_read_by_the_stock_pprof) {
    const fs::path pprof = fs::read_symlink("/proc/self/exe").parent_path() / "pprof";
    if (!fs::exists(pprof)) GTEST_SKIP() << "pprof's sources or Go are not installed";
    ASSERT_EQ(profiled("--out one --sample 16K --json one.json").code, 3);
    ASSERT_EQ(profiled("--out two --sample 16K --json two.json", program_path() + " twice").code, 3);
    const nlohmann::json one = nlohmann::json::parse(text_of_file(folder_ / "one.json"));
    const nlohmann::json two = nlohmann::json::parse(text_of_file(folder_ / "two.json"));
    const auto shown = [&](const std::string& words) {
        return run_in(folder_.string(), "'" + pprof.string() + "' -top -unit=B -nodefraction=0 " + words);
    };
    const auto expect_near = [](double found, double expected) { EXPECT_NEAR(found, expected, 1 + expected / 1000); };
    for (const auto& [index, what] : {std::pair{"inuse_space", "live"}, std::pair{"alloc_space", "allocated"}}) {
        const auto top = shown(std::string("-sample_index=") + index + " one/profile.pb.gz");
        ASSERT_EQ(top.code, 0) << top.out;
        expect_words(top.out, {"File: profiled_program", index});
        for (const char* const function : {"hold_sessions", "main"})
            expect_near(bytes_in_pprof(top.out, function), bytes_of(one, what, function));
    }
    const auto more = shown("-sample_index=inuse_space -diff_base one/profile.pb.gz two/profile.pb.gz");
    ASSERT_EQ(more.code, 0) << more.out;
    expect_near(bytes_in_pprof(more.out, "hold_sessions"),
                bytes_of(two, "live", "hold_sessions") - bytes_of(one, "live", "hold_sessions"));
    const auto lines = shown("-lines -sample_index=inuse_space one/profile.pb.gz");
    expect_words(lines.out, {"hold_sessions", "programs/profiled_program.cpp:"});
}

TEST_F(profile_command, a_program_that_was_built_anew_gives_no_wrong_names) {
    fs::copy_file(program_path(), folder_ / "program");
    ASSERT_EQ(profiled("--out here --sample 16K --json all.json", "./program").code, 3);
    const nlohmann::json read = nlohmann::json::parse(text_of_file(folder_ / "all.json"));
    const auto has_id = [](const auto& mapping) { return mapping["build_id"].template get<std::string>().size() > 15; };
    EXPECT_TRUE(std::any_of(read["mappings"].begin(), read["mappings"].end(), has_id));
    const auto& own = *std::find_if(read["mappings"].begin(), read["mappings"].end(), [](const auto& mapping) {
        return mapping["path"].template get<std::string>().ends_with("/program");
    });
    if (own["build_id"] == "") GTEST_SKIP() << "this machine's linker writes no build IDs";
    fs::remove(folder_ / "program");
    fs::copy_file("/proc/self/exe", folder_ / "program");
    std::string file;
    for (const auto& entry : fs::directory_iterator(folder_ / "here")) {
        if (entry.path().string().ends_with(".heapprofile")) file = entry.path().string();
    }
    const auto found = run_command("profile --by live '" + file + "'");
    expect_words(found.out, {"/program is another build than the one that ran", "program+0x"});
    EXPECT_EQ(found.out.find("hold_sessions"), std::string::npos);
}

TEST_F(profile_command, shows_the_peak_from_a_file_that_was_saved_then) {
    const auto found = profiled("--at-peak --out here --sample 16K");
    EXPECT_EQ(found.code, 3) << found.err;
    expect_words(found.err, {"saved when the live bytes were highest so far", "bytes live, by call stack", "load_once",
                             "half older than", ".peak.heapprofile"});
    std::string file;
    for (const auto& entry : fs::directory_iterator(folder_ / "here")) {
        if (entry.path().string().ends_with(".peak.heapprofile")) file = entry.path().string();
    }
    const auto read = [&](const char* words) {
        return nlohmann::json::parse(run_command("profile --json - " + std::string(words) + "'" + file + "'").out);
    };
    // 64 MiB were loaded for a moment; the file is of a tenth less at most, if saving is quick.
    EXPECT_GT(bytes_of(read(""), "live", "load_once"), 40e6);
    expect_words(run_command("profile --at-peak '" + file + "'").out, {"bytes live, by call stack"});
    expect_words(run_command("profile --by allocated '" + file + "'").out, {"bytes allocated, by call stack"});
}

TEST_F(profile_command, refuses_what_makes_no_sense_and_says_what_does) {
    const auto refused = [&](const std::string& words, int code, std::initializer_list<std::string> said) {
        const auto found = run_command("profile " + words, folder_.string());
        EXPECT_EQ(found.code, code) << words;
        expect_words(found.err, said);
    };
    refused("", 2, {"nothing was given to show"});
    refused("--sample lots -- true", 2, {"--sample lots is not valid", "64K"});
    refused("--every 5 -- true", 2, {"--every 5 is not valid", "60s"});
    refused("--every 60s x.heapprofile", 2, {"--every applies to a run"});
    refused("--at-peak --by live -- true", 2, {"contradict"});
    refused("--diff a.heapprofile", 2, {"--diff"});
    refused("--html - --folded - x.heapprofile", 2, {"standard output takes one"});
    refused("no.heapprofile", 2, {"no.heapprofile"});
    refused("-- no-such-program", 127, {"there is no program no-such-program"});
    std::ofstream(folder_ / "foreign.heapprofile") << "something else";
    refused("foreign.heapprofile", 2, {"foreign.heapprofile", "not a heap profile"});
    fs::create_directory(folder_ / "full");
    std::ofstream(folder_ / "full/old.1.exit.heapprofile") << "x";
    refused("--out full -- true", 3, {"contains profiles already"});
    refused("--html no-folder/x -- true", 3, {"no-folder"});
}

/// A program that allocates until it is killed, under the drop-in, in a folder.
class running_program {
public:
    running_program(const fs::path& folder, const std::string& library) : child_(::fork()) {
        if (child_ != 0) return;
        if (::chdir(folder.c_str()) != 0) ::_exit(1);
        if (!library.empty()) ::setenv("LD_PRELOAD", library.c_str(), 1);
        const std::string path = (fs::read_symlink("/proc/self/exe").parent_path() / "profiled_program").string();
        ::execl(path.c_str(), path.c_str(), "until", "killed", static_cast<char*>(nullptr));
        ::_exit(1);
    }
    ~running_program() {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    running_program(const running_program&) = delete;
    running_program& operator=(const running_program&) = delete;
    [[nodiscard]] std::string number() const { return std::to_string(child_); }
    /// Waits until it has become the program.
    void await() const {
        for (int look = 0; look < 500; ++look) {
            if (text_of_file("/proc/" + number() + "/cmdline").find("killed") != std::string::npos) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        FAIL() << "the program did not start";
    }

private:
    pid_t child_;
};

TEST_F(profile_command, attaches_to_a_process_that_runs_under_the_drop_in) {
    const std::string library = (fs::path(command_path()).parent_path() / "libtenure_malloc.so").string();
    const running_program program(folder_, library);
    program.await();
    const auto found = run_command("profile --attach " + program.number() + " --for 300ms");
    if (found.err.find("cannot be asked") != std::string::npos) GTEST_SKIP() << found.err;
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"heap profile of profiled_program [" + program.number() + "]", "keep_allocating"});
    const auto read = [&](const std::string& name) { return nlohmann::json::parse(text_of_file(folder_ / name)); };
    const auto attached = [&](const std::string& name) {
        return run_command("profile --attach " + program.number() + " --for 100ms --json " + name, folder_.string());
    };
    ASSERT_EQ(attached("first.json").code, 0);
    ASSERT_EQ(attached("second.json").code, 0);
    EXPECT_GE(read("second.json")["started_ms"], read("first.json")["saved_ms"]) << "the first one has ended";
}

// `tenure pins` asks for pages by a bit of its own; `tenure profile` does not.
TEST_F(profile_command, files_of_an_attached_process_have_pages_if_pins_asks_for_them) {
    const std::string library = (fs::path(command_path()).parent_path() / "libtenure_malloc.so").string();
    const running_program program(folder_, library);
    program.await();
    const auto plain = run_command("profile --attach " + program.number() + " --for 100ms");
    if (plain.err.find("cannot be asked") != std::string::npos) GTEST_SKIP() << plain.err;
    ASSERT_EQ(plain.code, 0) << plain.err;
    const auto newest = [&] {
        std::string last;
        for (const auto& each : fs::directory_iterator(folder_)) last = std::max(last, each.path().string());
        return "'" + last + "'";
    };
    const auto without = run_command("pins " + newest());
    EXPECT_EQ(without.code, 2);
    expect_words(without.err, {"says nothing about pages"});
    const auto pins = run_command("pins --attach " + program.number() + " --for 200ms");
    EXPECT_EQ(pins.code, 0) << pins.err;
    expect_words(pins.out, {"memory of profiled_program [" + program.number() + "]", "blocks in use", "call stack"});
    EXPECT_EQ(run_command("pins " + newest()).code, 0) << "the file has them";
}

TEST_F(profile_command, says_why_it_cannot_attach) {
    const running_program program(folder_, "");
    program.await();
    const auto other = run_command("profile --attach " + program.number());
    EXPECT_EQ(other.code, 126);
    expect_words(other.err, {"does not run under the drop-in", "tenure run"});
    const auto none = run_command("profile --attach 99999999");
    EXPECT_EQ(none.code, 126);
    expect_words(none.err, {"there is no process 99999999"});
    EXPECT_EQ(run_command("profile --attach 1 -- true").code, 2);
    EXPECT_EQ(run_command("profile --attach 1 --for soon").code, 2);
    EXPECT_EQ(run_command("profile --for 5s -- true").code, 2);
}

TEST_F(profile_command, ends_as_the_program_does) {
    EXPECT_EQ(profiled("--out a", "sh -c 'exit 7'").code, 7);
    EXPECT_EQ(profiled("--out b", "sh -c 'kill -TERM $$'").code, 143);
    // The second one sends the signal to `tenure` itself, which hands it on.
    for (const std::string word : {"ended", "parent"}) {
        const auto ended = profiled("--sample 16K --out " + word, program_path() + " " + word);
        EXPECT_EQ(ended.code, 143) << word;
        expect_words(ended.err, {"saved no profile", "--every"});
    }
    const auto killed = profiled("--out c", "sh -c 'kill -KILL $$'");
    EXPECT_EQ(killed.code, 137);
    expect_words(killed.err, {"saved no profile", "--every"});
}

}
