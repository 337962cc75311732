// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure record` and `tenure trace`: what is recorded against what the program says it has done.

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/recorded_programs.hpp"
#include "observe/symbols/symbols.hpp"

namespace {

namespace fs = std::filesystem;
using tenure::lab::load_trace;
using tenure::lab::trace;
using tenure::lab::trace_call;
using tenure::lab::trace_event;
using tenure::lab::trace_family;

using recorded = recorded_programs;

/// The events of each block, by the size that it was allocated with.
std::map<std::uint64_t, std::vector<trace_event>> by_first_size(const trace& of) {
    std::vector<std::vector<trace_event>> blocks(of.blocks);
    for (const trace_event& each : of.events)
        if (each.call <= trace_call::resize) blocks[each.block].push_back(each);
    std::map<std::uint64_t, std::vector<trace_event>> found;
    for (auto& each : blocks) found[each.front().bytes] = std::move(each);
    return found;
}

void expect_model(const trace& of, const std::string& log) {
    auto blocks = by_first_size(of);
    std::istringstream lines(log);
    std::size_t count = 0, handed_on = 0, resized = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        std::istringstream fields(line);
        int family = 0, allocated_by = 0, freed_by = 0;
        std::size_t alignment = 0, resizes = 0;
        fields >> family >> alignment >> allocated_by >> freed_by >> resizes;
        std::vector<std::uint64_t> sizes(resizes + 1);
        for (std::uint64_t& each : sizes) fields >> each;
        const auto& events = blocks[sizes[0]];
        ASSERT_EQ(events.size(), sizes.size() + std::size_t{freed_by >= 0}) << line;
        EXPECT_EQ(static_cast<int>(events[0].family), family) << line;
        const bool is_aligned =
            events[0].family == trace_family::aligned || events[0].family == trace_family::aligned_new;
        EXPECT_EQ(std::size_t{1} << events[0].alignment_log2, is_aligned ? alignment : 16u) << line;
        for (std::size_t index = 1; index < sizes.size(); ++index) {
            EXPECT_EQ(events[index].call, trace_call::resize) << line;
            EXPECT_EQ(events[index].bytes, sizes[index]) << line;
        }
        resized += resizes;
        if (freed_by < 0) continue;
        EXPECT_EQ(events.back().call, trace_call::deallocate) << line;
        EXPECT_EQ(events.back().thread == events.front().thread, allocated_by == freed_by) << line;
        handed_on += std::size_t{allocated_by != freed_by};
    }
    EXPECT_GT(count, 2000u);
    EXPECT_GT(resized, 300u);
    EXPECT_GT(handed_on, 10u) << "the threads ran one after another";
}

TEST_F(recorded, a_program_with_threads_is_recorded_as_it_says) {
    for (const char* const options : {"-o t", "-o t --stacks 12"}) {
        const auto ran = record(options, program() + " model log");
        ASSERT_EQ(ran.code, 0) << ran.err;
        expect_words(ran.err, {"trace: ", "/t\n"});
        const trace found = load("t");
        expect_model(found, text_of_file(folder_ / "log"));
        EXPECT_EQ(found.unknown_frees, 0u);
        EXPECT_EQ(found.threads, 5u);
        ASSERT_EQ(found.arguments.size(), 3u);
        EXPECT_EQ(found.arguments[1], "model");
        EXPECT_EQ(files("t"), std::vector<std::string>{"t"}) << "the raw file is gone";
    }
}

TEST_F(recorded, stacks_lead_to_mapped_code_of_the_program) {
    ASSERT_EQ(record("-o t --stacks 8", program() + " model log").code, 0);
    const trace found = load("t");
    EXPECT_TRUE(found.has_free_stacks);
    std::size_t with_stack = 0, inside = 0;
    for (const trace_event& each : found.events) {
        if (each.call > trace_call::resize || each.bytes < 100'000) continue;
        ++with_stack;
        const auto& frames = found.stacks[each.stack].frames;
        EXPECT_LE(frames.size(), 8u);
        inside += static_cast<std::size_t>(std::any_of(frames.begin(), frames.end(), [&](std::uint64_t frame) {
            return std::any_of(found.mappings.begin(), found.mappings.end(), [&](const auto& mapping) {
                return mapping.path.ends_with("recorded_program") && frame >= mapping.begin && frame < mapping.end;
            });
        }));
    }
    EXPECT_EQ(inside, with_stack);
    EXPECT_GT(with_stack, 4000u);
    EXPECT_LT(found.stacks.size(), 500u) << "each stack is written once";
    const auto has_id = [](const auto& mapping) { return mapping.build_id.size() >= 16; };
    EXPECT_TRUE(std::any_of(found.mappings.begin(), found.mappings.end(), has_id));
}

TEST_F(recorded, a_sample_keeps_blocks_whole) {
    ASSERT_EQ(record("-o t --sample 1M", program() + " model log").code, 0);
    const trace found = load("t");
    EXPECT_EQ(found.sample_bytes, 1u << 20);
    EXPECT_EQ(found.unknown_frees, 0u);
    EXPECT_GT(found.blocks, 50u);
    EXPECT_LT(found.blocks, 2000u);
}

TEST_F(recorded, the_child_of_a_fork_has_a_file_of_its_own) {
    const auto ran = record("-o t", program() + " fork");
    EXPECT_EQ(ran.code, 5) << "the program's own\n" << ran.err;
    expect_words(ran.err, {"trace of another process: "});
    const auto names = files("t");
    ASSERT_EQ(names.size(), 2u);
    const trace parent = load("t"), child = load(names[1]);
    EXPECT_EQ(names[1], "t." + std::to_string(child.process));
    EXPECT_EQ(count_of(parent, trace_call::allocate, 777), 100u);
    EXPECT_EQ(count_of(parent, trace_call::deallocate, 777), 100u) << "the child frees its own copies";
    EXPECT_EQ(count_of(parent, trace_call::allocate, 888), 0u);
    EXPECT_EQ(count_of(child, trace_call::allocate, 888), 50u);
    EXPECT_EQ(count_of(child, trace_call::allocate, 777), 0u);
    EXPECT_GE(child.unknown_frees, 10u) << "blocks of the parent";
    EXPECT_EQ(child.arguments, parent.arguments);
    EXPECT_FALSE(child.mappings.empty());
}

TEST_F(recorded, of_several_processes_the_largest_comes_first) {
    const auto ran = record("-o t", "sh -c '" + program() + " objects; exit 0'");
    ASSERT_EQ(ran.code, 0) << ran.err;
    const std::size_t large = ran.err.find(" (recorded_program, "), little = ran.err.find("trace: ");
    EXPECT_LT(large, ran.err.find("/t (")) << ran.err;
    EXPECT_LT(large, little) << ran.err;
    expect_words(ran.err, {"trace of another process: ", " KiB)", "/t (sh, "});
}

TEST_F(recorded, nothing_is_lost_when_the_program_is_killed) {
    const auto ran = record("-o t", program() + " kill");
    EXPECT_EQ(ran.code, 128 + 9) << ran.err;
    const trace found = load("t");
    EXPECT_EQ(count_of(found, trace_call::allocate, 555), 20'000u);
    EXPECT_EQ(count_of(found, trace_call::deallocate, 555), 1u);
    EXPECT_FALSE(found.mappings.empty());
}

TEST_F(recorded, the_raw_file_is_read_like_the_packed_one) {
    const auto ran = run_in(folder_.string(), "env TENURE_RECORD_FILE=\"$PWD/t\" LD_PRELOAD='" +
                                                  library("libtenure_record.so") + "' " + program() + " model log");
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto names = files("t.");
    ASSERT_EQ(names.size(), 1u);
    EXPECT_TRUE(names[0].ends_with(".raw"));
    expect_model(load(names[0]), text_of_file(folder_ / "log"));
}

TEST_F(recorded, ended_threads_leave_their_room_to_others) {
    ASSERT_EQ(record("-o t", program() + " threads").code, 0);
    const trace found = load("t");
    EXPECT_EQ(found.threads, 301u);
    EXPECT_EQ(count_of(found, trace_call::deallocate, 333), 300u);
}

TEST_F(recorded, a_text_is_longer_than_the_unused_end_of_a_chunk) {
    ASSERT_EQ(record("-o t", program() + " mappings").code, 0);
    const trace found = load("t");
    EXPECT_EQ(found.threads, 56u);
    EXPECT_EQ(count_of(found, trace_call::deallocate, 333), 55u);
    const auto is_libc = [](const auto& each) { return each.path.find("libc.so") != std::string::npos; };
    EXPECT_TRUE(std::any_of(found.mappings.begin(), found.mappings.end(), is_libc)) << "behind the anonymous ones";
}

TEST_F(recorded, marks_and_frames_of_the_program_are_events) {
    ASSERT_EQ(record("-o t", program("framed_program")).code, 0);
    const trace found = load("t");
    EXPECT_EQ(found.marks, std::vector<std::string>{"loading"});
    std::vector<trace_call> calls;
    for (const trace_event& each : found.events) {
        if (each.call >= trace_call::frame || each.bytes == 4321) calls.push_back(each.call);
    }
    const std::vector<trace_call> expected{trace_call::mark,  trace_call::allocate, trace_call::deallocate,
                                           trace_call::frame, trace_call::frame,    trace_call::frame,
                                           trace_call::mark};
    EXPECT_EQ(calls, expected);
}

TEST_F(recorded, a_program_runs_on_when_its_file_cannot_grow) {
    std::ofstream(folder_ / "w.pl") << "my @a; push @a, 'x' . $_ for 1..300000; print scalar(@a)";
    const auto ran =
        run_in(folder_.string(), "sh -c 'ulimit -f 1500; exec \"" + command_path() + "\" record -o t -- perl w.pl'");
    if (run_in(".", "command -v perl").code != 0) GTEST_SKIP() << "there is no perl";
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "300000");
    expect_words(ran.err, {"events are missing, because the recording could not grow"});
    const trace found = load_trace((folder_ / "t").string());
    expect_words(found.damage, {"events are missing"});
    EXPECT_EQ(broken_promise(found), "");
    EXPECT_GT(found.events.size(), 10'000u);
}

// operator new calls malloc, and operator delete calls free: each pair is one event, recorded or missing.
TEST_F(recorded, events_that_are_missing_are_counted_once) {
    constexpr std::uint64_t events = 200'000, of_the_start = 200;
    const auto ran = run_in(folder_.string(), "sh -c 'ulimit -f 100; exec \"" + command_path() +
                                                  "\" record -o t -- \"" + program() + "\" objects'");
    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::size_t end = ran.err.find(" events are missing");
    ASSERT_NE(end, std::string::npos) << ran.err;
    const std::uint64_t missing = std::stoull(ran.err.substr(ran.err.rfind(' ', end - 1) + 1));
    const std::uint64_t all = missing + load_trace((folder_ / "t").string()).events.size();
    EXPECT_GE(all, events);
    EXPECT_LE(all, events + of_the_start);
}

// The start of a program has none. Its addresses lie behind those of a unit that has.
TEST_F(recorded, code_without_debug_information_has_no_line) {
    const std::string path =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "recorded_program").string();
    Elf64_Ehdr head{};
    std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&head), sizeof head);
    tenure::lab::symbols names;
    const std::vector<tenure::lab::named_frame>& frames = names.at(path, head.e_entry, false);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].function, "_start");
    EXPECT_EQ(frames[0].file, "");
    EXPECT_EQ(frames[0].line, 0);
}

TEST_F(recorded, a_part_of_a_trace_is_a_trace) {
    ASSERT_EQ(record("-o t --stacks 4", program() + " model log").code, 0);
    // In the middle of the events, where many blocks have come and gone.
    const trace whole = load("t");
    const std::uint64_t middle_ms = whole.events[whole.events.size() / 2].time_ns / 1'000'000;
    if (middle_ms == 0) GTEST_SKIP() << "the program has run for less than two milliseconds";
    const std::string middle = std::to_string(middle_ms) + "ms";
    EXPECT_EQ(run_command("trace cut t --from " + middle + " -o part", folder_.string()).code, 0);
    EXPECT_EQ(run_command("trace cut t --to " + middle + " -o first", folder_.string()).code, 0);
    const trace part = load("part"), first = load("first");
    const auto of_part = run_command("trace info part", folder_.string()),
               of_whole = run_command("trace info t", folder_.string());
    expect_words(of_part.out, {"part              from ", " to the end of a trace of ", "in use when the part begins"});
    EXPECT_EQ(of_whole.out.find("\npart "), std::string::npos);
    const nlohmann::json about = nlohmann::json::parse(run_command("trace info first --json", folder_.string()).out);
    EXPECT_EQ(about["part"]["to_ns"], middle_ms * 1'000'000);
    EXPECT_EQ(about["part"]["from_ns"], 0);
    EXPECT_LT(part.events.size(), whole.events.size());
    EXPECT_LT(first.events.size(), whole.events.size());
    EXPECT_GE(part.events.size() + first.events.size(), whole.events.size()) << "and what is in use in between";
    EXPECT_EQ(part.arguments, whole.arguments);
    const std::string range = " --from " + middle;
    const auto info = run_command("trace info t --json" + range, folder_.string());
    const nlohmann::json shown = nlohmann::json::parse(info.out);
    EXPECT_EQ(shown["events"], part.events.size());
    EXPECT_TRUE(shown["is_part"]);
    EXPECT_TRUE(shown["bytes_per_event"].is_null());
    const auto exported = run_command("trace export t --csv" + range, folder_.string());
    EXPECT_EQ(static_cast<std::size_t>(std::count(exported.out.begin(), exported.out.end(), '\n')),
              part.events.size() + 1);
    const auto text = run_command("trace info t" + range, folder_.string());
    expect_words(text.out, {"older blocks", "in use when the part begins", "of which this is a part"});
    EXPECT_EQ(run_command("trace info t --from 2s --to 1s", folder_.string()).code, 2);
    EXPECT_EQ(run_command("trace export t --csv --to soon", folder_.string()).code, 2);
    const auto wrong = run_command("trace cut t --from 2s --to 1s -o no", folder_.string());
    EXPECT_EQ(wrong.code, 2);
    expect_words(wrong.err, {"is not after"});
    EXPECT_EQ(run_command("trace cut t --from soon -o no", folder_.string()).code, 2);
    for (const std::string zero : {"0", "0ms", "00s"}) {
        const auto all = run_command("trace info t --json --from " + zero, folder_.string());
        EXPECT_EQ(all.code, 0) << all.err;
        EXPECT_EQ(nlohmann::json::parse(all.out)["events"], whole.events.size());
    }
    for (const std::string none : {"--to 0", "--from 0s --to 0ms", "--from 0x", "--from 0.5s"})
        EXPECT_EQ(run_command("trace info t " + none, folder_.string()).code, 2) << none;
}

TEST_F(recorded, a_part_behind_the_end_of_a_trace_is_refused) {
    ASSERT_EQ(record("-o t", program() + " model log").code, 0);
    for (const std::string command :
         {"info t --from 20h", "export t --csv --from 20h --to 21h", "cut t --from 20h -o no"}) {
        const auto refused = run_command("trace " + command, folder_.string());
        EXPECT_EQ(refused.code, 2) << command;
        EXPECT_EQ(refused.out, "");
        expect_words(refused.err, {"--from 20h", "the trace ends after", " ms"});
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "no"));
}

TEST_F(recorded, real_programs_run_as_before) {
    struct example {
        const char *name, *words, *out;
    };
    const example all[] = {
        {"perl", "perl -e 'my @a = map { \"x\" x $_ } 1..500; print scalar(@a)'", "500"},
        {"sqlite3",
         "sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i+1 from n where i<5000) "
         "select count(distinct hex(i)) from n'",
         "5000"},
        {"/usr/bin/python3",
         "env PYTHONMALLOC=malloc /usr/bin/python3 -c 'import json; "
         "print(len(json.dumps([{\"a\": i} for i in range(500)])))'",
         "5890"},
    };
    for (const example& each : all) {
        if (run_in(".", std::string("command -v ") + each.name).code != 0) continue;
        const auto ran = record("-o t", each.words);
        EXPECT_EQ(ran.code, 0) << each.name << ran.err;
        EXPECT_EQ(ran.out.substr(0, ran.out.find('\n')), each.out) << each.name;
        std::uint64_t events = 0, bytes = 0;
        for (const std::string& file : files("t")) { // env and python are two programs of one process
            const trace found = load(file);
            events += found.events.size();
            bytes += fs::file_size(folder_ / file);
            EXPECT_EQ(found.unknown_frees, 0u) << each.name;
            fs::remove(folder_ / file);
        }
        EXPECT_GT(events, 2000u) << each.name;
        EXPECT_LT(bytes, 6 * events) << each.name;
    }
}

TEST_F(recorded, info_and_export_agree_with_the_trace) {
    ASSERT_EQ(record("-o t --stacks 4", program() + " model log").code, 0);
    const trace found = load("t");
    const auto text = run_command("trace info t", folder_.string());
    EXPECT_EQ(text.code, 0) << text.err;
    expect_words(text.out, {"recorded_program model log", "threads           5", "call stacks", "bytes for each event",
                            "freed after allocations"});
    const auto json = nlohmann::json::parse(run_command("trace info --json t", folder_.string()).out);
    EXPECT_EQ(json["events"], found.events.size());
    EXPECT_EQ(json["allocations"], found.blocks);
    EXPECT_EQ(json["threads"], 5);
    EXPECT_EQ(json["unknown_frees"], 0);
    EXPECT_EQ(json["file_bytes"], fs::file_size(folder_ / "t"));
    std::uint64_t sized = 0, freed = 0;
    for (const auto& each : json["sizes"]) sized += each["blocks"].get<std::uint64_t>();
    for (const auto& each : json["lifetimes_ns"]) freed += each["blocks"].get<std::uint64_t>();
    EXPECT_EQ(sized, found.blocks);
    EXPECT_EQ(freed, json["deallocations"]);

    EXPECT_EQ(run_command("trace export t --csv -o t.csv", folder_.string()).code, 0);
    const std::string csv = text_of_file(folder_ / "t.csv");
    EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), found.events.size() + 1);
    EXPECT_TRUE(csv.starts_with("time_ns,thread,call,block,bytes,family,alignment,stack\n"));
    std::istringstream lines(run_command("trace export t --json-lines", folder_.string()).out);
    std::size_t events = 0, stacks = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto read = nlohmann::json::parse(line);
        read.contains("frames") ? ++stacks : ++events;
    }
    EXPECT_EQ(events, found.events.size());
    EXPECT_EQ(stacks + 1, found.stacks.size());
}

TEST_F(recorded, what_is_wrong_is_said) {
    std::ofstream(folder_ / "no-trace") << "hello";
    struct refusal {
        const char *words, *said;
        int code;
    };
    const refusal all[] = {
        {"record", "nothing was given to run", 2},
        {"record -o - -- true", "needs a file", 2},
        {"record --sample 0 -- true", "--sample 0 is not valid", 2},
        {"record --stacks 65 -- true", "64", 2},
        {"record -o none/t -- true", "there is no folder", 3},
        {"record -o t -- ./nothing-here", "there is no program", 127},
        {"trace", "subcommand is required: info, export, cut, import", 2},
        {"trace foo", "there is no command \"foo\". There are: info, export, cut, import.", 2},
        {"trace info one two", "unexpected argument \"two\"", 2},
        {"trace info none", "none", 2},
        {"trace info no-trace", "This is not a trace", 2},
        {"trace info no-trace", "tenure trace import", 2},
        {"trace export no-trace", "name a format", 2},
        {"trace import no-trace -o no-trace", "is the file that is read", 3},
        {"trace import no-trace --format heaptrack -o t", "no line of it can be read", 2},
    };
    for (const refusal& each : all) {
        const auto ran = run_command(each.words, folder_.string());
        EXPECT_EQ(ran.code, each.code) << each.words << ran.err;
        expect_words(ran.err, {each.said});
    }
    ASSERT_EQ(record("-o kept", program() + " model log").code, 0);
    for (const char* const words : {"trace cut kept --to 1s -o kept", "trace export kept --csv -o ./kept",
                                    "replay kept --json kept", "advise kept --html kept"}) {
        const auto replacing = run_command(words, folder_.string());
        EXPECT_EQ(replacing.code, 3) << words;
        expect_words(replacing.err, {"is the file that is read"});
        EXPECT_EQ(run_command("trace info kept", folder_.string()).code, 0) << words;
    }
    std::ofstream(folder_ / "t.raw") << "old";
    const auto ran = run_command("record -o t -- true", folder_.string());
    EXPECT_EQ(ran.code, 3);
    expect_words(ran.err, {"t.raw", "remove it"});
}

TEST_F(recorded, a_cut_off_file_is_shown_with_a_warning) {
    ASSERT_EQ(record("-o t", program() + " model log").code, 0);
    const trace whole = load("t");
    fs::resize_file(folder_ / "t", fs::file_size(folder_ / "t") / 2);
    const auto shown = run_command("trace info --json t", folder_.string());
    EXPECT_EQ(shown.code, 0);
    expect_words(shown.err, {"Shown is what could be read"});
    EXPECT_LT(nlohmann::json::parse(shown.out)["events"].get<std::size_t>(), whole.events.size());
}

}
