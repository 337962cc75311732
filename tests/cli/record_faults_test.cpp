// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure record`: what happens to a recording's file while the program runs, and where others have left theirs.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/recorded_programs.hpp"

namespace {

namespace fs = std::filesystem;
using tenure::lab::load_trace;
using tenure::lab::trace;
using tenure::lab::trace_call;

constexpr std::size_t all_blocks = 200'000; // blocks of a size that the program allocates
constexpr int not_possible = 77;

class record_faults : public recorded_programs {
protected:
    [[nodiscard]] static std::string faults() { return program("record_faults_program"); }
    /// Without the command, so that the raw file stays.
    [[nodiscard]] command_outcome record_raw(const std::string& name, const std::string& words) const {
        return run_in(folder_.string(), "env TENURE_RECORD_FILE=\"$PWD/" + name + "\" LD_PRELOAD='" +
                                            library("libtenure_record.so") + "' " + faults() + " " + words);
    }
};

TEST_F(record_faults, a_program_may_close_all_descriptors) {
    ASSERT_EQ(record("-o t", faults() + " close").code, 0);
    EXPECT_EQ(count_of(load("t"), trace_call::allocate, 600), all_blocks);
    ASSERT_EQ(record("-o u", faults() + " close-all").code, 0);
    EXPECT_EQ(count_of(load("u"), trace_call::allocate, 600), all_blocks);
    EXPECT_EQ(text_of_file(folder_ / "own"), "mine") << "the file with the number of standard input";
}

TEST_F(record_faults, a_recording_follows_its_file_and_not_the_name) {
    const auto ran = record("-o t", faults() + " rename moved");
    EXPECT_NE(ran.code, 0) << "its file is not found under its name";
    EXPECT_EQ(text_of_file(folder_ / "t.raw"), "other");
    EXPECT_EQ(count_of(load("moved"), trace_call::allocate, 600), all_blocks);
}

TEST_F(record_faults, a_later_file_of_the_same_name_is_left_alone) {
    EXPECT_NE(record("-o t", faults() + " rename-closed moved").code, 0);
    EXPECT_EQ(text_of_file(folder_ / "t.raw"), "other");
    const trace found = load_trace((folder_ / "moved").string());
    EXPECT_EQ(count_of(found, trace_call::allocate, 500), all_blocks);
    EXPECT_LT(count_of(found, trace_call::allocate, 600), all_blocks);
    expect_words(found.damage, {"events are missing", "Stale file handle"});
}

TEST_F(record_faults, a_program_without_descriptors_is_recorded_again_when_it_has_some) {
    const auto ran = record("-o t", faults() + " descriptors");
    ASSERT_EQ(ran.code, 0) << ran.err;
    expect_words(ran.err, {"events are missing", "Too many open files"});
    const trace found = load_trace((folder_ / "t").string());
    EXPECT_EQ(broken_promise(found), "");
    EXPECT_LT(count_of(found, trace_call::allocate, 550), all_blocks);
    EXPECT_EQ(count_of(found, trace_call::allocate, 600), all_blocks);
}

TEST_F(record_faults, interrupted_system_calls_are_made_again) {
    const auto ran = record("-o t", faults() + " interrupted");
    if (ran.code == not_possible) GTEST_SKIP() << "system calls cannot be interrupted here";
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(count_of(load("t"), trace_call::allocate, 600), all_blocks);
}

TEST_F(record_faults, room_on_the_disk_is_taken_before_it_is_used) {
    const auto ran = record_raw("t", "unsupported");
    if (ran.code == not_possible) GTEST_SKIP() << "system calls cannot be refused here";
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto names = files("t.");
    ASSERT_EQ(names.size(), 1u);
    struct stat about {};
    ASSERT_EQ(::stat((folder_ / names[0]).c_str(), &about), 0);
    EXPECT_GE(about.st_blocks * 512, about.st_size) << "the file has a hole";
    EXPECT_EQ(count_of(load(names[0]), trace_call::allocate, 600), all_blocks);
}

// The program needs 200 MiB of the addresses that it may have; the recorder takes nothing that it would lack.
TEST_F(record_faults, a_limit_of_addresses_is_left_to_the_program) {
    for (const int limit_kib : {250'000, 320'000, 450'000}) {
        const std::string limited =
            "sh -c 'ulimit -v " + std::to_string(limit_kib) + "; exec \"$0\" addresses' " + faults();
        ASSERT_EQ(run_in(folder_.string(), limited).code, 0) << "without a recording";
        const auto ran = record("-o t" + std::to_string(limit_kib), limited);
        EXPECT_EQ(ran.code, 0) << limit_kib << ran.err;
        expect_words(ran.err, {"ulimit -v"});
    }
}

TEST_F(record_faults, a_program_that_nothing_was_recorded_of_has_run) {
    const std::string limited = "sh -c 'ulimit -v 200000; exec \"" + command_path() + "\" record -o t -- sh -c \"exit ";
    const auto good = run_in(folder_.string(), limited + "0\"'");
    EXPECT_EQ(good.code, 3) << "126 is for a program that did not run\n" << good.err;
    expect_words(good.err, {"sh is not recorded", "ulimit -v", "the program was not recorded"});
    EXPECT_EQ(run_in(folder_.string(), limited + "5\"'").code, 5) << "the program's own";
}

TEST_F(record_faults, the_file_of_a_process_that_runs_on_stays) {
    const auto ran = record("-o t", faults() + " runs-on");
    EXPECT_EQ(ran.code, 0) << ran.err;
    expect_words(ran.err, {"trace: ", "still grows"});
    const auto names = files("t.");
    ASSERT_EQ(names.size(), 1u);
    EXPECT_TRUE(names[0].ends_with(".raw"));
    EXPECT_EQ(count_of(load(names[0]), trace_call::allocate, 600), 0u);
    std::ofstream(folder_ / "go") << "";
    for (int turn = 0; turn < 2000 && !fs::exists(folder_ / "done"); ++turn)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(count_of(load(names[0]), trace_call::allocate, 600), all_blocks);
}

TEST_F(record_faults, a_process_of_another_user_with_the_same_number_is_not_what_was_recorded) {
    // In a namespace of its own the program has the number 1: outside that is another user's process.
    const std::string user = ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    const std::string recorded = user + "'" + command_path() + "' record -o ";
    fs::permissions(folder_, fs::perms::all);
    if (run_in(folder_.string(), user + "unshare -Urpf true").code != 0 ||
        run_in(folder_.string(), recorded + "u -- true").code != 0)
        GTEST_SKIP() << "a user has no namespaces here";
    const auto ran = run_in(folder_.string(), recorded + "t -- unshare -Urpf ls");
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err.find("still grows"), std::string::npos) << ran.err;
    for (const std::string& each : files("t")) EXPECT_FALSE(each.ends_with(".raw")) << each;
}

TEST_F(record_faults, files_of_other_recordings_are_left_alone) {
    ASSERT_EQ(record_raw("other", "close").code, 0);
    const auto names = files("other.");
    ASSERT_EQ(names.size(), 1u);
    fs::rename(folder_ / names[0], folder_ / "run.1.raw");
    ASSERT_EQ(record("-o run", program() + " threads").code, 0);
    EXPECT_EQ(files("run"), (std::vector<std::string>{"run", "run.1.raw"}));
}

TEST_F(record_faults, a_trace_of_another_process_replaces_no_file) {
    // The child's number is one of the next ones.
    const auto shell = run_in(folder_.string(), "sh -c 'echo $$'");
    const int first = std::stoi(shell.out);
    for (int number = first; number < first + 500; ++number)
        std::ofstream(folder_ / ("t." + std::to_string(number))) << "old";
    ASSERT_EQ(record("-o t", program() + " fork").code, 5);
    for (int number = first; number < first + 500; ++number)
        EXPECT_EQ(text_of_file(folder_ / ("t." + std::to_string(number))), "old") << number;
    EXPECT_GE(files("t").size(), 502u);
}

TEST_F(record_faults, a_file_with_a_name_like_a_partial_one_is_left_alone) {
    std::ofstream(folder_ / "t.partial") << "mine";
    ASSERT_EQ(record("-o t", "true").code, 0);
    EXPECT_EQ(text_of_file(folder_ / "t.partial"), "mine");
    EXPECT_EQ(files("t"), (std::vector<std::string>{"t", "t.partial"}));
    const fs::perms others = fs::status(folder_ / "t").permissions() & (fs::perms::group_read | fs::perms::others_read);
    EXPECT_EQ(others,
              fs::status(folder_ / "t.partial").permissions() & (fs::perms::group_read | fs::perms::others_read))
        << "its rights are a new file's";
}

TEST_F(record_faults, a_file_that_cannot_begin_is_not_left) {
    const auto ran =
        run_in(folder_.string(), "sh -c 'ulimit -f 1; exec \"" + command_path() + "\" record -o t -- true'");
    EXPECT_NE(ran.code, 0);
    expect_words(ran.err, {"true is not recorded", "limit of file sizes"});
    EXPECT_EQ(files("t"), std::vector<std::string>{});
    const auto again = record("-o t", "true");
    EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(record_faults, a_command_in_a_folder_with_a_space_records_and_leaves_no_link) {
    const fs::path place = folder_ / "a b:c";
    fs::create_directory(place);
    fs::copy_file(command_path(), place / "tenure");
    fs::copy_file(library("libtenure_record.so"), place / "libtenure_record.so");
    for (const char* const turn : {"first", "second"}) {
        const auto ran =
            run_in(folder_.string(), "'" + (place / "tenure").string() + "' record -o t -- " + program() + " threads");
        EXPECT_EQ(ran.code, 0) << turn << ran.err;
        EXPECT_EQ(load("t").threads, 301u);
        EXPECT_EQ(files("libtenure"), std::vector<std::string>{});
    }
}

TEST_F(record_faults, a_device_is_no_place_for_a_recording) {
    const auto ran = record("-o /dev/null", "true");
    EXPECT_EQ(ran.code, 3);
    expect_words(ran.err, {"not a regular file"});
}

TEST_F(record_faults, a_part_may_go_to_standard_output) {
    ASSERT_EQ(record("-o t", program() + " threads").code, 0);
    const auto ran = run_command("trace cut t -o -", folder_.string());
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_FALSE(fs::exists(folder_ / "-"));
    const trace part = tenure::lab::read_trace(ran.out);
    EXPECT_EQ(part.error, "");
    EXPECT_EQ(part.events.size(), load("t").events.size());
}

}
