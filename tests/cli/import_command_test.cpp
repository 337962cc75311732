// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure trace import`, with what the installed heaptrack writes of a program.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/recorded_programs.hpp"
#include "observe/trace/compression/compression.hpp"

namespace {

namespace fs = std::filesystem;
using tenure::lab::trace;
using tenure::lab::trace_call;
using tenure::lab::trace_event;

class imported : public recorded_programs {
protected:
    /// The name of the file that heaptrack has written.
    [[nodiscard]] std::string heaptrack(const std::string& options, const std::string& program) const {
        const auto ran = run_in(folder_.string(), "heaptrack " + options + " -o h " + program);
        EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
        const auto names = files("h.");
        EXPECT_EQ(names.size(), 1u) << ran.out;
        return names.empty() ? "" : names.front();
    }
    [[nodiscard]] trace import_file(const std::string& file) const {
        const auto ran = run_command("trace import " + file + " -o imported", folder_.string());
        EXPECT_EQ(ran.code, 0) << ran.err;
        return load("imported");
    }
    /// Why there is no recording of heaptrack to import; empty if there is one.
    [[nodiscard]] static std::string why_not_heaptrack() {
        if (run_in(".", "command -v heaptrack").code != 0) return "heaptrack is not installed";
        return tenure::lab::has_zstd() ? "" : "this build has no zstd";
    }
};

struct counts {
    int allocated = 0, freed = 0;
};

std::map<std::uint64_t, counts> by_size(const trace& of) {
    std::map<std::uint64_t, counts> found;
    for (const trace_event& each : of.events) {
        if (each.call == trace_call::allocate) ++found[each.bytes].allocated;
        if (each.call == trace_call::deallocate) ++found[each.bytes].freed;
    }
    return found;
}

/// On one thread: heaptrack writes a moved block's free after realloc, when another thread can have its address
/// already.
constexpr const char* model_alone = " model log 1";

/// Each size that the program says it has asked for is allocated; a realloc has freed the size before it.
void expect_log(const trace& of, const std::string& log) {
    constexpr int aligned_new = 4;
    std::map<std::uint64_t, counts> expected;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        int family = 0, allocated_by = 0, freed_by = 0;
        std::size_t alignment = 0, resizes = 0;
        fields >> family >> alignment >> allocated_by >> freed_by >> resizes;
        for (std::size_t index = 0; index <= resizes; ++index) {
            std::uint64_t size = 0;
            fields >> size;
            // heaptrack sees what operator new asks the C library for: a multiple of the alignment.
            if (family == aligned_new) size = (size + alignment - 1) / alignment * alignment;
            ++expected[size].allocated;
            expected[size].freed += index < resizes || freed_by >= 0 ? 1 : 0;
        }
    }
    EXPECT_GT(expected.size(), 2000u);
    auto found = by_size(of);
    for (const auto& [size, each] : expected) {
        EXPECT_EQ(found[size].allocated, each.allocated) << size;
        EXPECT_EQ(found[size].freed, each.freed) << size;
    }
}

TEST_F(imported, a_recording_of_heaptrack_has_the_calls_of_the_program) {
    if (const std::string reason = why_not_heaptrack(); !reason.empty()) GTEST_SKIP() << reason;
    for (const char* const options : {"--raw", ""}) {
        const std::string file = heaptrack(options, program() + model_alone);
        const trace found = import_file(file);
        expect_log(found, text_of_file(folder_ / "log"));
        EXPECT_EQ(found.threads, 1u);
        EXPECT_GT(found.stacks.size(), 5u);
        ASSERT_EQ(found.arguments.size(), 4u);
        EXPECT_EQ(found.arguments[1], "model");
        fs::remove(folder_ / file);
    }
}

TEST_F(imported, heaptrack_and_record_count_the_same) {
    if (const std::string reason = why_not_heaptrack(); !reason.empty()) GTEST_SKIP() << reason;
    const trace found = import_file(heaptrack("--raw", program() + " threads"));
    ASSERT_EQ(record("-o t", program() + " threads").code, 0);
    const trace recorded = load("t");
    for (const trace_call call : {trace_call::allocate, trace_call::deallocate}) {
        EXPECT_EQ(count_of(found, call, 333), 300u);
        EXPECT_EQ(count_of(recorded, call, 333), 300u);
    }
    // Its library is one more to load, for which the C library needs a few more bytes.
    EXPECT_NEAR(static_cast<double>(found.blocks), static_cast<double>(recorded.blocks), 20);
}

TEST_F(imported, stacks_of_a_raw_file_lead_to_mapped_code_of_the_program) {
    if (const std::string reason = why_not_heaptrack(); !reason.empty()) GTEST_SKIP() << reason;
    const trace found = import_file(heaptrack("--raw", program() + model_alone));
    std::size_t all = 0, inside = 0;
    for (const trace_event& each : found.events) {
        if (each.call != trace_call::allocate || each.bytes < 100'000) continue;
        ++all;
        const auto& frames = found.stacks[each.stack].frames;
        inside += static_cast<std::size_t>(std::any_of(frames.begin(), frames.end(), [&](std::uint64_t frame) {
            return std::any_of(found.mappings.begin(), found.mappings.end(), [&](const auto& mapping) {
                return mapping.path.ends_with("recorded_program") && frame > mapping.begin && frame <= mapping.end;
            });
        }));
    }
    EXPECT_EQ(inside, all);
    EXPECT_GT(all, 2000u);
}

TEST_F(imported, a_text_of_malloc_debug_becomes_a_trace) {
    std::ofstream(folder_ / "a.txt") << "17: malloc 0x5000 48 1000000 1000400\n18: calloc 0x6000 4 8 2000000 2000400\n"
                                        "17: free 0x6000 3000000 3000400\n17: free 0x9000 4000000 4000400\n";
    const auto ran = run_command("trace import a.txt -o t", folder_.string());
    EXPECT_EQ(ran.code, 0) << ran.err;
    expect_words(ran.err, {"a.txt: left out: the free of a block that the recording does not allocate"});
    const auto json = nlohmann::json::parse(run_command("trace info --json t", folder_.string()).out);
    EXPECT_EQ(json["events"], 3);
    EXPECT_EQ(json["threads"], 2);
    EXPECT_EQ(json["live_bytes_at_end"], 48);
    const auto piped = run_command("trace import a.txt --format android -o -", folder_.string());
    EXPECT_EQ(piped.out, text_of_file(folder_ / "t"));
}

TEST_F(imported, damage_is_said_and_stays_in_the_trace) {
    std::ofstream(folder_ / "a.txt") << "17: malloc 0x5000 48\n17: malloc 0x6000 4\n17: malloc 0x7000 4\n17: fr";
    const auto ran = run_command("trace import a.txt -o t", folder_.string());
    EXPECT_EQ(ran.code, 0) << ran.err;
    expect_words(ran.err, {"The file ends early, in line 4", "Imported is what could be read"});
    const auto shown = run_command("trace info --json t", folder_.string());
    expect_words(shown.err, {"The file ends early, in line 4"});
    EXPECT_EQ(nlohmann::json::parse(shown.out)["events"], 3);
}

TEST_F(imported, what_is_wrong_is_said) {
    std::ofstream(folder_ / "none") << "hello\n";
    std::ofstream(folder_ / "a.zip") << "PK\x03\x04";
    struct refusal {
        const char *words, *said;
        int code;
    };
    const refusal all[] = {
        {"trace import", "file is required", 2},
        {"trace import none", "--out is required", 2},
        {"trace import none -o t", "none: This is no recording", 2},
        {"trace import nothing -o t", "nothing", 2},
        {"trace import a.zip -o t", "unzip -p", 2},
        {"trace import none -o t --format perf", "perf", 2},
        {"trace import none -o no/t", "there is no folder", 3},
    };
    for (const refusal& each : all) {
        const auto ran = run_command(each.words, folder_.string());
        EXPECT_EQ(ran.code, each.code) << each.words << ran.err;
        expect_words(ran.err, {each.said});
        EXPECT_FALSE(fs::exists(folder_ / "t")) << each.words;
    }
}

}
