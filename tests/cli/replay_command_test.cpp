// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure record`, `tenure replay` and `tenure advise` as their user runs them, one after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "support/run_command.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

class replay_command : public testing::Test {
protected:
    void SetUp() override {
        const fs::path command = command_path();
        if (!fs::exists(command)) GTEST_SKIP() << command << " was not built";
        if (!fs::exists(command.parent_path() / "libtenure_record.so")) GTEST_SKIP() << "this tree records no traces";
    }

    [[nodiscard]] command_outcome run(const std::string& words) const { return run_command(words, folder_.string()); }
    void record(const std::string& options, const std::string& arguments = {}) const {
        const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "advised_program";
        const auto found = run("record -o program.trace " + options + " -- " + program.string() + " " + arguments);
        ASSERT_EQ(found.code, 0) << found.err;
    }
    [[nodiscard]] nlohmann::json json(const std::string& file) const {
        return nlohmann::json::parse(text_of_file(folder_ / file));
    }

    support::temporary_folder own_;
    const fs::path folder_ = own_.path();
};

TEST_F(replay_command, replays_a_recorded_program_on_the_mallocs_that_are_named) {
    record("");
    const auto found = run("replay program.trace --against mimalloc --rounds 2 --repeat 1 --wait 0 --json all.json");
    ASSERT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"program.trace: ", " calls, ", "glibc malloc", "tenure", "mimalloc", "peak resident",
                             "time per call", "first replay", "p99.9", "--touch ends"});
    EXPECT_EQ(found.out.find("jemalloc"), std::string::npos);
    const nlohmann::json read = json("all.json");
    const nlohmann::json& rows = read["experiments"][0]["contestants"];
    ASSERT_GE(rows.size(), 3U);
    EXPECT_EQ(rows[0]["name"], "glibc malloc");
}

const nlohmann::json* list_of(const nlohmann::json& lists, const std::string& name) {
    for (const auto& each : lists)
        if (each["name"] == name) return &each["values"];
    ADD_FAILURE() << "no list " << name;
    return nullptr;
}

TEST_F(replay_command, memory_over_the_trace_is_in_the_json_and_on_the_page) {
    record("--stacks 8");
    const auto found =
        run("replay program.trace --against glibc --rounds 1 --repeat 1 --wait 1 --json all.json --html page.html");
    ASSERT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"waits 1 second", "0.1 s later", "1 s later", "at most 64 B apart",
                             "in the same 4 KiB page", "median distance", "peak resident"});
    EXPECT_EQ(found.out.find("5 s later"), std::string::npos);
    const nlohmann::json replay = json("all.json")["experiments"][0];
    const nlohmann::json *const live = list_of(replay["lists"], "place, live"), *const events = list_of(
                                                                                    replay["lists"], "place, events");
    ASSERT_TRUE(live != nullptr && events != nullptr);
    ASSERT_GE(live->size(), 201U);
    EXPECT_EQ((*live)[0], 0);
    std::uint64_t peak = 0;
    for (const auto& each : *live) peak = std::max(peak, each.get<std::uint64_t>());
    for (const auto& row : replay["contestants"]) {
        if (row["state"] != "measured") continue;
        for (const char* const name : {"place, resident", "place, resident per live byte"}) {
            const nlohmann::json* const list = list_of(row["lists"], name);
            ASSERT_NE(list, nullptr) << row["name"];
            EXPECT_EQ(list->size(), live->size());
        }
        const nlohmann::json* const per_byte = list_of(row["lists"], "place, resident per live byte");
        ASSERT_NE(per_byte, nullptr);
        for (std::size_t place = 0; place < live->size(); ++place)
            EXPECT_EQ((*per_byte)[place].is_null(), (*live)[place] == 0) << "null where nothing lives: " << place;
        for (const auto& metric : row["metrics"])
            if (metric["name"] == "peak of live bytes") {
                EXPECT_EQ(std::llround(metric["samples"][0].get<double>() * 1024 * 1024), static_cast<long long>(peak));
            }
    }
    expect_words(text_of_file(folder_ / "page.html"),
                 {"Replay of program.trace", "Memory over the trace", "Fragmentation over the trace", "memory-live",
                  "What a replay cannot know", "seconds after the frees", "median distance",
                  "Content-Security-Policy"});
}

/// The charts of memory over the trace in a page, one behind the other.
std::string memory_charts_of(const std::string& page) {
    std::string charts;
    for (std::size_t at = 0; (at = page.find("<figure class=\"wide memory-figure\">", at)) != std::string::npos; ++at)
        charts += page.substr(at, page.find("</figure>", at) - at);
    return charts;
}

TEST_F(replay_command, report_draws_the_page_again_from_the_json) {
    record("");
    ASSERT_EQ(run("replay program.trace --against glibc --rounds 1 --repeat 1 --wait 0 --json results.json --html "
                  "page.html")
                  .code,
              0);
    const std::string charts = memory_charts_of(text_of_file(folder_ / "page.html"));
    ASSERT_NE(charts, "");
    const auto of_file = run("report results.json --html again.html");
    ASSERT_EQ(of_file.code, 0) << of_file.err;
    EXPECT_EQ(of_file.out, "");
    const std::string again = text_of_file(folder_ / "again.html");
    EXPECT_EQ(memory_charts_of(again), charts);
    expect_words(again, {"<title>Replay of program.trace", "drawn from <code>results.json</code>", "peak resident"});
    const auto of_folder = run("report . --html -");
    ASSERT_EQ(of_folder.code, 0) << of_folder.err;
    EXPECT_EQ(memory_charts_of(of_folder.out), charts);

    ASSERT_EQ(run("report results.json --summary kept.json").code, 0);
    expect_words(run("report kept.json --html -").out, {"A summary has no memory over the trace"});
    for (const char* const wrong : {"report results.json --html results.json", "report . --html results.json",
                                    "report results.json kept.json --html a.html",
                                    "report results.json --html a.html --short", "report nothing --html a.html"})
        EXPECT_EQ(run(wrong).code, 2) << wrong;
    EXPECT_EQ(run("report results.json --html nowhere/a.html").code, 3);
}

TEST_F(replay_command, without_a_wait_nothing_is_said_of_later_memory) {
    record("");
    const auto found = run("replay program.trace --against glibc --rounds 1 --repeat 1 --wait 0 --html -");
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.out.rfind("<!DOCTYPE html>", 0), 0U) << "standard output is the page";
    EXPECT_EQ(found.out.find("0.1 s later"), std::string::npos);
    EXPECT_EQ(found.out.find("without a call"), std::string::npos);
}

TEST_F(replay_command, a_malloc_that_is_not_installed_is_named_as_missing) {
    record("");
    const auto found = run("replay program.trace --rounds 1 --repeat 1 --wait 0");
    ASSERT_EQ(found.code, 0) << found.err;
    for (const char* const peer : {"jemalloc", "mimalloc", "tcmalloc", "TBB malloc"})
        EXPECT_NE(found.out.find(peer), std::string::npos) << "measured, or missing with the package to install";
    const auto unknown = run("replay program.trace --against jemaloc");
    EXPECT_EQ(unknown.code, 2);
    expect_words(unknown.err, {"jemaloc", "jemalloc"});
}

/// The group whose stack has this function.
nlohmann::json group_of(const nlohmann::json& read, const std::string& function) {
    for (const auto& group : read["groups"]) {
        for (const auto& frame : group["stack"])
            if (frame.get<std::string>().find(function) != std::string::npos) return group;
    }
    ADD_FAILURE() << function << " not in " << read.dump(2);
    return {};
}

/// Time is not asserted: advice that no replay proved has the reason instead, and the next kind that fits is tried.
void expect_advice(const nlohmann::json& group, const std::string& kind, const std::string& phrase) {
    ASSERT_TRUE(group.contains("saving")) << "it fits, so it was measured: " << group.dump(2);
    EXPECT_EQ(group["saving"]["same_contents"], true);
    if (group["advice"] != kind) {
        EXPECT_NE(group["reason"].get<std::string>().find("it would fit " + phrase), std::string::npos)
            << group.dump(2);
    }
    if (group["advice"] == "leave alone") return;
    EXPECT_LT(group["saving"]["time_ratio"]["high"].get<double>(), 1) << "only proven advice is given";
    EXPECT_FALSE(group["cpp"].get<std::string>().empty());
    EXPECT_FALSE(group["csharp"].get<std::string>().empty());
}

TEST_F(replay_command, advice_names_the_function_for_the_scope_and_is_measured) {
    record("--stacks 16");
    const auto found = run("advise program.trace --rounds 6 --repeat 1 --json all.json --html page.html");
    ASSERT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"make_cell", "make_node", "lifetimes", "A replay knows nothing"});
    const nlohmann::json read = json("all.json");
    EXPECT_EQ(read["has_stacks"], true);
    EXPECT_NE(read["replay"]["seed"], 0) << "the one that was drawn";
    EXPECT_EQ(read["replay"]["touch"], "ends");
    const nlohmann::json cells = group_of(read, "make_cell"), nodes = group_of(read, "make_node");
    EXPECT_EQ(cells["group"]["blocks"], 3000 * 24);
    EXPECT_EQ(cells["group"]["peak_blocks"], 24);
    EXPECT_EQ(cells["group"]["lifo_share"], 1);
    expect_advice(cells, "Temp", "Temp");
    if (cells["advice"] == "Temp") {
        const auto scope = cells["scope"].get<std::string>();
        const std::size_t call = scope.find("from before the call of");
        EXPECT_LT(scope.find("evaluate_row"), call) << "which frees the cells: " << cells.dump(2);
        EXPECT_NE(scope.find("make_cell", call), std::string::npos) << scope;
        EXPECT_EQ(cells["scope_proof"], "separate calls");
    }
    EXPECT_EQ(nodes["group"]["smallest"], 48);
    EXPECT_EQ(nodes["group"]["peak_blocks"], 200);
    expect_advice(nodes, "pool", "a pool");
    expect_words(text_of_file(folder_ / "page.html"),
                 {"<svg", "class=\"life\"", "make_cell", "Content-Security-Policy"});
}

TEST_F(replay_command, advise_runs_a_program_records_it_and_advises) {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "advised_program";
    const auto found = run("advise --rounds 6 --repeat 1 --groups 2 --json all.json -- " + program.string());
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.out.find_first_not_of("-0123456789\n"), std::string::npos) << "standard output is the program's";
    EXPECT_FALSE(found.out.empty());
    expect_words(found.err, {"make_cell", "lifetimes", "A replay knows nothing"});
    EXPECT_EQ(json("all.json")["has_stacks"], true);
    EXPECT_EQ(group_of(json("all.json"), "make_cell")["group"]["blocks"], 3000 * 24);
    for (const fs::directory_entry& each : fs::directory_iterator(folder_))
        EXPECT_EQ(each.path().filename(), "all.json") << "the trace was temporary";
}

TEST_F(replay_command, advise_finds_the_program_behind_a_shell) {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "advised_program";
    const auto found = run("advise --rounds 6 --repeat 1 --groups 1 -- sh -c 'exec \"" + program.string() + "\"'");
    ASSERT_EQ(found.code, 0) << found.err;
    expect_words(found.err, {"make_cell", "several programs were recorded: advice is of process ",
                             ", " + program.string() + ", which has"});
}

TEST_F(replay_command, advise_that_is_interrupted_shows_what_it_has) {
    record("--stacks 16");
    // The signal comes when the command catches it, which is before the first replay. Ten thousand rounds are not over.
    const auto found = run_in(folder_.string(), "{ '" + command_path() + R"SHELL(' advise program.trace --rounds 10000 \
        --groups 2 --json all.json & advising=$!
        catches() { [ $((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$advising/status) & 0x4000)) != 0 ]; }
        for turn in $(seq 3000); do catches && break; sleep 0.01; done
        kill -TERM $advising; wait $advising; })SHELL");
    EXPECT_EQ(found.code, 130) << found.err;
    expect_words(found.out, {"make_cell", "The run was interrupted", "was not measured to the end"});
    EXPECT_EQ(json("all.json")["complete"], false);
    const auto cells = group_of(json("all.json"), "make_cell");
    EXPECT_EQ(cells["group"]["blocks"], 3000 * 24);
    EXPECT_EQ(cells["advice"], "leave alone");
}

// The page and the data are not lost with `tenure replay ... | head`.
TEST_F(replay_command, files_are_written_if_nobody_reads_standard_output) {
    record("--stacks 16");
    const std::string command = "'" + command_path() + "' ";
    for (const std::string words : {"replay program.trace --against glibc --rounds 1 --repeat 1 --wait 0",
                                    "advise program.trace --rounds 6 --groups 1"}) {
        const auto found = run_in(folder_.string(), command + words + " --json all.json --html page.html | true");
        EXPECT_TRUE(nlohmann::json::accept(text_of_file(folder_ / "all.json"))) << words << found.err;
        expect_words(text_of_file(folder_ / "page.html"), {"</html>"});
        fs::remove(folder_ / "all.json");
        fs::remove(folder_ / "page.html");
    }
}

TEST_F(replay_command, a_peer_that_is_no_malloc_is_refused) {
    record("");
    for (const char* const peer : {"Boost.Pool", "boost.pool"}) {
        const auto found =
            run("replay program.trace --rounds 1 --repeat 1 --wait 0 --against glibc," + std::string(peer));
        EXPECT_EQ(found.code, 2) << found.out;
        expect_words(found.err,
                     {"Boost.Pool cannot take the place of a program's malloc", "Possible are: ", "jemalloc"});
    }
}

TEST_F(replay_command, a_recording_of_another_tool_is_to_be_imported) {
    std::ofstream(folder_ / "heaptrack.program.1") << "v 10500 3\nX ./program\n";
    for (const char* const command : {"replay ", "advise "}) {
        const auto found = run(std::string(command) + "heaptrack.program.1");
        EXPECT_EQ(found.code, 2);
        expect_words(found.err, {"not a trace of tenure record", "tenure trace import", "heaptrack"});
    }
}

TEST_F(replay_command, a_trace_is_no_advice) {
    record("--stacks 4");
    const auto found = run("run --advice program.trace -- true");
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"--advice program.trace is a trace", "tenure advise -o FILE program.trace"});
}

TEST_F(replay_command, a_folder_for_the_trace_is_to_be_named) {
    const auto found = run_in(folder_.string(), "env TMPDIR=/nowhere '" + command_path() + "' advise -- true");
    EXPECT_EQ(found.code, 3);
    expect_words(found.err, {"cannot create a folder for the trace", "Set TMPDIR to a folder"});
}

TEST_F(replay_command, advice_without_a_rebuild_is_a_file) {
    record("--stacks 16");
    fs::rename(folder_ / "program.trace", folder_ / "other.trace");
    record("--stacks 16");
    const auto found = run("advise -o program.advice --check other.trace --json all.json program.trace");
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(text_of_file(folder_ / "program.advice").substr(0, 16), "tenure-advice 1\n");
    expect_words(found.out, {"mean after trim()", "program.advice is written", "cannot know"});
    const nlohmann::json read = json("all.json");
    EXPECT_LE(read["checked"].size(), 1U) << "where nothing helps there is nothing to check";
    EXPECT_EQ(read["refusal"].get<std::string>().empty(), !read["sites"].empty());
    const auto to_out = run("advise -o - program.trace");
    ASSERT_EQ(to_out.code, 0) << to_out.err;
    EXPECT_EQ(to_out.out.substr(0, 16), "tenure-advice 1\n");
}

TEST_F(replay_command, advice_is_not_checked_on_the_run_that_it_was_learned_from) {
    record("--stacks 16");
    fs::copy_file(folder_ / "program.trace", folder_ / "copy.trace");
    std::ofstream(folder_ / "longer.trace", std::ios::binary) << text_of_file(folder_ / "program.trace") << "more";
    for (const char* const each : {"program.trace", "copy.trace", "longer.trace"}) {
        const auto found = run("advise -o program.advice --check " + std::string(each) + " program.trace");
        EXPECT_EQ(found.code, 2) << each;
        expect_words(found.err, {std::string("--check ") + each + ": it is the run that the advice is learned from"});
        EXPECT_FALSE(fs::exists(folder_ / "program.advice"));
    }
}

TEST_F(replay_command, files_to_check_on_are_read_before_anything_is_recorded_or_searched) {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "advised_program";
    for (const char* const file : {"missing.trace", "."}) {
        const auto found = run("advise -o a.advice --check " + std::string(file) + " -- " + program.string());
        EXPECT_EQ(found.code, 2);
        EXPECT_EQ(found.out, "") << "the program did not run";
        expect_words(found.err, {"--check: ", file});
    }
    record("--stacks 0");
    const auto without_stacks = run("advise -o a.advice --check program.trace -- " + program.string());
    EXPECT_EQ(without_stacks.code, 2);
    EXPECT_EQ(without_stacks.out, "");
    expect_words(without_stacks.err, {"--check program.trace: the trace has no call stacks"});
    const auto learned = run("advise -o a.advice program.trace");
    EXPECT_EQ(learned.code, 2);
    expect_words(learned.err, {"the trace has no call stacks: record it with --stacks 16"});
    EXPECT_FALSE(fs::exists(folder_ / "a.advice"));
}

TEST_F(replay_command, advice_without_a_rebuild_runs_a_program_too) {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "advised_program";
    const auto found = run("advise -o program.advice -- " + program.string());
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.out.find_first_not_of("-0123456789\n"), std::string::npos) << "standard output is the program's";
    expect_words(found.err, {"mean after trim()"});
    expect_words(text_of_file(folder_ / "program.advice"), {"tenure-advice 1", "# Learned from"});
    for (const fs::directory_entry& each : fs::directory_iterator(folder_))
        EXPECT_EQ(each.path().filename(), "program.advice") << "the trace was temporary";
}

TEST_F(replay_command, advise_ends_as_the_program_does) {
    EXPECT_EQ(run("advise -- /nowhere/program").code, 127);
    EXPECT_EQ(run("advise -- /").code, 126);
    const auto failed = run("advise --rounds 6 --repeat 1 --groups 1 -- sh -c 'exit 7'");
    EXPECT_EQ(failed.code, 7) << failed.err;
    const auto two = run("advise a.trace b.trace");
    EXPECT_EQ(two.code, 2);
    expect_words(two.err, {"b.trace", "tenure advise -- PROGRAM"});
}

TEST_F(replay_command, a_base_that_is_no_malloc_is_refused) {
    std::ofstream(folder_ / "a.trace") << "x";
    const fs::path library = fs::read_symlink("/proc/self/exe").parent_path() / "liboffset_peer_example.so";
    const auto found = run("advise a.trace --base " + library.string());
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"--base: ", "provides an offset allocator and no malloc"});
}

TEST_F(replay_command, without_stacks_it_says_that_groups_are_size_classes) {
    record("--stacks 0");
    const auto found = run("advise program.trace --rounds 6 --repeat 1");
    ASSERT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"no call stacks", "grouped by size class"});
    EXPECT_EQ(found.out.find("Use Temp"), std::string::npos) << "nobody knows where its scope would be";
}

TEST_F(replay_command, files_that_are_no_traces_are_refused) {
    std::ofstream(folder_ / "empty.trace").close();
    std::ofstream(folder_ / "text.trace") << "This is a text and not a trace of allocations.\n";
    for (const char* const command : {"replay", "advise"}) {
        for (const char* const file : {"empty.trace", "text.trace", "missing.trace", "."}) {
            const auto found = run(std::string(command) + " " + file);
            EXPECT_EQ(found.code, 2) << command << " " << file;
            EXPECT_NE(found.err.find(file), std::string::npos) << found.err;
            EXPECT_EQ(found.out, "");
        }
    }
}

TEST_F(replay_command, a_damaged_trace_is_used_as_far_as_it_can_be_read_or_refused) {
    record("");
    const std::string whole = text_of_file(folder_ / "program.trace");
    for (const std::size_t bytes : {whole.size() / 2, whole.size() - 100, std::size_t{100}}) {
        std::ofstream(folder_ / "cut.trace", std::ios::binary) << whole.substr(0, bytes);
        const auto found = run("replay cut.trace --against glibc --rounds 1 --repeat 1 --wait 0");
        EXPECT_TRUE(found.code == 0 || found.code == 2) << found.code << found.err;
        EXPECT_NE(found.err.find("cut.trace: "), std::string::npos) << "it says what is missing: " << found.err;
    }
}

TEST_F(replay_command, a_sampled_trace_is_refused) {
    record("--sample 4K");
    const auto found = run("advise program.trace");
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"sample", "Record it without --sample"});
}

TEST_F(replay_command, wrong_options_are_refused_in_words) {
    std::ofstream(folder_ / "a.trace") << "x";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"replay", "nothing was given to replay: tenure replay FILE"},
        {"advise", "nothing was given to advise on: tenure advise -- PROGRAM"},
        {"advise --", "nothing was given to advise on"},
        {"advise a.trace --access", "--access is for a program that is run"},
        {"advise -o a.advice --access -- true", "-o does not use --access"},
        {"replay a.trace --touch some", "--touch"},
        {"replay a.trace --rounds 0", "--rounds"},
        {"advise a.trace --rounds 5", "fewer than 6 rounds"},
        {"advise a.trace --base nomalloc", "nomalloc"},
        {"advise a.trace --json - --html -", "standard output takes one"},
        {"replay a.trace --json - --html -", "standard output takes one"},
        {"replay a.trace --wait -1", "--wait"},
        {"advise a.trace --check b.trace", "--check is for the advice file of -o"},
        {"advise -o a.advice --html a.html a.trace", "-o writes no page"},
        {"advise -o - --json - a.trace", "standard output takes one of -o and --json"},
        {"advise -o a.advice --rounds 9 a.trace", "-o does not use --rounds"},
        {"advise -o a.advice --groups 9 a.trace", "-o does not use --groups"},
        {"advise -o a.advice --seed 9 a.trace", "-o does not use --seed"},
        {"advise -o a.advice --repeat 9 a.trace", "-o does not use --repeat"},
        {"advise -o a.advice --base glibc a.trace", "-o does not use --base"},
        {"advise -o a.advice --json - -- true", "standard output is the program's: --json -"},
        {"advise --html - -- true", "standard output is the program's: --html -"},
        {"advise -o - -- true", "standard output is the program's"},
        {"replay a.trace --agianst glibc", "--against"},
    };
    for (const auto& [words, said] : cases) {
        const auto found = run(words);
        EXPECT_EQ(found.code, 2) << words << "\n" << found.err;
        EXPECT_NE(found.err.find(said), std::string::npos) << words << "\n" << found.err;
    }
    EXPECT_EQ(run("advise a.trace --json no/folder/all.json").code, 3);
    EXPECT_EQ(run("replay a.trace --html no/folder/page.html").code, 3);
    EXPECT_EQ(run("advise -o no/folder/a.advice a.trace").code, 3);
    expect_words(run("advise --help").out, {"-o,--out FILE", "--check TRACE", "tenure run --advice"});
}

TEST_F(replay_command, help_lists_options_and_exit_codes) {
    for (const char* const command : {"replay", "advise"}) {
        const auto found = run(std::string(command) + " --help");
        EXPECT_EQ(found.code, 0);
        expect_words(found.out, {"--rounds", "--touch", "--json", "--html", "Exit codes", "tenure record"});
    }
}

}
