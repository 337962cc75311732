// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// heaptrack's data files as traces.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "observe/trace/compression/compression.hpp"
#include "trace/recordings.hpp"

namespace {

using recordings::calls_of;
using recordings::read_damaged;
using recordings::read_whole;
using tenure::lab::import_limits;
using tenure::lab::import_trace;
using tenure::lab::recording_format;
using tenure::lab::trace;
using tenure::lab::trace_event;
using tenure::lab::trace_family;
using texts = std::vector<std::string>;
using addresses = std::vector<std::uint64_t>;

constexpr const char* raw_lines = "v 10400 3\n"
                                  "x b /no such/p!\n"
                                  "X ./p one two\n"
                                  "I 1000 5e298f\n"
                                  "m 1 -\n"
                                  "m 1 x 5000000 0 b58 1000 3c1\n"
                                  "m f linux-vdso.so.1 7ff000 0 1522\n"
                                  "m 8 /no/libc 7000000 0 100 200 100\n"
                                  "t 5000120 0\n"
                                  "t 500026b 1\n"
                                  "+ 65 2 61d0\n"
                                  "c f\n"
                                  "R 3a0\n"
                                  "t 5000278 1\n"
                                  "+ ca 3 6300\n"
                                  "- 61d0\n"
                                  "+ 10 0 61d0\n"
                                  "+ 11 2 61d0\n"
                                  "- 9999\n"
                                  "c 19\n"
                                  "m 1 -\n"
                                  "m 1 x 5000000 0 b58\n"
                                  "m 8 /no/late 7000200 0 80\n"
                                  "- 6300\n"
                                  "# strings: 43\n"
                                  "\n";

constexpr const char* interpreted_lines = "v 10400 3\n"
                                          "X ./p\n"
                                          "s 9 /tmp/ht/p\n"
                                          "s 4 main\n"
                                          "s 1b operator new(unsigned long)\n"
                                          "i 5000120 1 2 1 5\n"
                                          "i 7000030 1 3\n"
                                          "t 1 0\n"
                                          "t 2 1\n"
                                          "a 65 1\n"
                                          "a 20 2\n"
                                          "+ 0\n"
                                          "+ 0\n"
                                          "+ 1\n"
                                          "c a\n"
                                          "- 0\n"
                                          "+ 0\n"
                                          "c 14\n"
                                          "- 0\n"
                                          "- 0\n"
                                          "- 0\n"
                                          "- 1\n";

TEST(heaptrack_import, events_of_a_raw_file_are_read_by_their_pointers) {
    const trace read = read_whole(raw_lines);
    EXPECT_EQ(calls_of(read), (texts{"a0:101", "a1:202", "d0:101", "a2:16", "d2:16", "a3:17", "d1:202"}));
    addresses times;
    for (const trace_event& each : read.events) times.push_back(each.time_ns);
    EXPECT_EQ(times, (addresses{0, 15'000'000, 15'000'000, 15'000'000, 15'000'000, 15'000'000, 25'000'000}));
    EXPECT_EQ(read.threads, 1u);
    EXPECT_EQ(read.unknown_frees, 1u);
    EXPECT_EQ(read.arguments, (texts{"./p", "one", "two"}));
    for (const trace_event& each : read.events) EXPECT_EQ(each.family, trace_family::malloc);
}

TEST(heaptrack_import, stacks_of_a_raw_file_are_return_addresses_innermost_first) {
    const trace read = read_whole(raw_lines);
    ASSERT_EQ(read.stacks.size(), 3u);
    EXPECT_EQ(read.stacks[1].frames, (addresses{0x500'026c, 0x500'0121}));
    EXPECT_EQ(read.stacks[2].frames, (addresses{0x500'0279, 0x500'0121}));
    EXPECT_EQ(read.events[0].stack, 1u);
    EXPECT_EQ(read.events[1].stack, 2u);
    EXPECT_EQ(read.events[2].stack, 0u) << "a free has none";
    EXPECT_EQ(read.events[3].stack, 0u);
    EXPECT_EQ(read.events[5].stack, 1u) << "each stack is made once";
}

TEST(heaptrack_import, later_mappings_replace_earlier_ones_in_their_place_only) {
    const trace read = read_whole(raw_lines);
    texts found;
    for (const auto& each : read.mappings)
        found.push_back(fmt::format("{:x}-{:x} {:x} {}", each.begin, each.end, each.file_offset, each.path));
    EXPECT_EQ(found,
              (texts{"7ff000-800522 0 [vdso]", "5000000-5000b58 0 /no such/p!", "5001000-50013c1 1000 /no such/p!",
                     "7000000-7000100 0 /no/libc", "7000200-7000280 0 /no/late"}));
}

TEST(heaptrack_import, a_free_of_an_interpreted_file_frees_the_newest_block_of_its_info) {
    const trace read = read_whole(interpreted_lines);
    EXPECT_EQ(calls_of(read), (texts{"a0:101", "a1:101", "a2:32", "d1:101", "a3:101", "d3:101", "d0:101", "d2:32"}));
    EXPECT_EQ(read.unknown_frees, 1u);
    EXPECT_EQ(read.events[0].family, trace_family::malloc);
    EXPECT_EQ(read.events[2].family, trace_family::operator_new) << "the name of the innermost function says it";
    EXPECT_EQ(read.events[7].family, trace_family::operator_new);
    EXPECT_EQ(read.stacks[read.events[2].stack].frames, (addresses{0x700'0031, 0x500'0121}));
    EXPECT_TRUE(read.mappings.empty());
}

TEST(heaptrack_import, older_formats_are_read) {
    const trace without_sizes =
        read_whole("v 10100 2\nx /no such/p!\nX p\nm x 5000000 0 b58\nm /no/libc 7000000 0 100\n"
                   "t 5000120 0\n+ 65 1 61d0\n- 61d0\n");
    EXPECT_EQ(calls_of(without_sizes), (texts{"a0:101", "d0:101"}));
    ASSERT_EQ(without_sizes.mappings.size(), 2u);
    EXPECT_EQ(without_sizes.mappings[0].path, "/no such/p!");
    EXPECT_EQ(calls_of(read_whole("v 10200\ns operator new(unsigned long)\ni 50 0 1\nt 1 0\na 8 1\n+ 0\n- 0 1\n")),
              (texts{"a0:8", "d0:8"}));
    EXPECT_EQ(calls_of(read_whole("v 10000\ns main\ni 50 0 1\nt 1 0\n+ 8 1 4000\n- 4000\n")), (texts{"a0:8", "d0:8"}))
        << "the first interpreted files had pointers";
    EXPECT_NE(import_trace("v 20000 4\n").error.find("version 4"), std::string::npos);
}

TEST(heaptrack_import, compressed_files_are_read_like_plain_ones) {
    for (const char* const each : {raw_lines, interpreted_lines}) {
        EXPECT_EQ(calls_of(read_whole(recordings::gzip(each))), calls_of(read_whole(each)));
        std::string packed;
        if (!tenure::lab::has_zstd()) continue;
        ASSERT_TRUE(tenure::lab::zstd_compress(each, packed));
        EXPECT_EQ(calls_of(read_whole(packed)), calls_of(read_whole(each)));
        EXPECT_EQ(read_whole(packed + packed).blocks, 2 * read_whole(each).blocks) << "one behind another";
    }
}

TEST(heaptrack_import, a_damaged_zstd_file_is_read_up_to_the_damage) {
    if (!tenure::lab::has_zstd()) GTEST_SKIP() << "this build has no zstd";
    std::minstd_rand random(3);
    std::string text = "v 10400 3\n", packed;
    for (int index = 0; index < 100'000; ++index) text += fmt::format("+ {:x} 0 {:x}\n", random(), random());
    ASSERT_TRUE(tenure::lab::zstd_compress(text, packed));
    const trace read = read_damaged(packed.substr(0, packed.size() / 2), "damaged or ends early, in line ");
    EXPECT_GT(read.blocks, 10'000u);
    EXPECT_LT(read.blocks, 100'000u);
    packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 64);
    const trace changed = import_trace(packed);
    EXPECT_TRUE(changed.ok());
    EXPECT_EQ(broken_promise(changed), "");
}

TEST(heaptrack_import, reading_ends_at_a_line_that_cannot_be_read) {
    const char* const wrong[] = {
        "?",
        "+",
        "+ g 0 1",
        "+ 65 1 4000",
        "+ 65 0",
        "+ 10000000000000000 0 1",
        "-",
        "- xyz",
        "t",
        "t 5000 1",
        "t 5000",
        "a 65 1",
        "a 65",
        "c",
        "c ffffffffffff",
        "s 9 main",
        "s",
        "i 5000",
        "i 5 1 1",
        "x ffff /p",
        "m",
        "m 2 /p",
        "m 2 /p 5000 1",
        "m 2 /p ffffffffffffffff 1 1",
        "m 2 /p 5000 0 ffffffffffffffff",
        "v",
        "v x",
    };
    for (const char* const each : wrong) {
        const trace read = read_damaged(std::string("v 10400 3\n+ 1 0 50\n") + each + "\n- 50\n", "Line 3 ");
        EXPECT_EQ(calls_of(read), texts{"a0:1"}) << each;
    }
    for (const char* const each : {"t 3 0", "t 0 0", "t 1 5", "a 1 9", "+ 2", "- 2"}) {
        const trace read = read_damaged(std::string(interpreted_lines) + each + "\n?\n", "Line 23 ");
        EXPECT_EQ(read.events.size(), 8u) << each;
    }
}

TEST(heaptrack_import, a_file_that_ends_early_is_read_to_its_last_whole_line) {
    for (const std::string text : {raw_lines, interpreted_lines}) {
        for (std::size_t length = text.find('\n') + 1; length < text.size(); ++length) {
            const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), '\n');
            if (text[length - 1] == '\n') {
                static_cast<void>(read_whole(text.substr(0, length)));
            } else {
                static_cast<void>(read_damaged(text.substr(0, length), fmt::format("in line {}", lines + 1)));
            }
        }
    }
}

TEST(heaptrack_import, limits_end_the_reading) {
    import_limits limits;
    limits.events = 5;
    EXPECT_EQ(read_damaged(raw_lines, "more than 4 events", limits).events.size(), 4u);
    EXPECT_EQ(read_damaged(interpreted_lines, "more than 4 events", limits).events.size(), 4u);
    limits = {};
    limits.table_bytes = 1000;
    std::string chain = "v 10400 3\n";
    for (int index = 0; index < 1000; ++index)
        chain += fmt::format("t {:x} {:x}\n+ 1 {:x} 1\n", index, index, index + 1);
    EXPECT_LT(read_damaged(chain, "no memory for more call stacks", limits).stacks.size(), 10u);
    const trace whole = read_whole(chain);
    EXPECT_EQ(whole.stacks.size(), 1001u);
    for (const auto& each : whole.stacks) EXPECT_LE(each.frames.size(), 64u);
    EXPECT_EQ(whole.stack_frames, 64u);
}

TEST(heaptrack_import, the_option_says_what_a_file_is) {
    EXPECT_NE(import_trace("1: malloc 0x50 1\n", recording_format::heaptrack).damage, "");
    EXPECT_EQ(calls_of(import_trace("+ 1 0 50\n", recording_format::heaptrack)), texts{"a0:1"});
}

TEST(heaptrack_import, any_bytes_keep_the_promises) {
    std::minstd_rand random(11);
    for (const std::string text : {raw_lines, interpreted_lines}) {
        for (int turn = 0; turn < 2000; ++turn) {
            std::string changed = text;
            for (int change = 0; change < 3; ++change)
                changed[10 + random() % (changed.size() - 10)] =
                    turn % 2 == 0 ? static_cast<char>(random()) : "+-at01 \n"[random() % 8];
            if (turn % 4 == 0 && tenure::lab::has_zstd()) {
                EXPECT_TRUE(tenure::lab::zstd_compress(std::string(changed), changed));
            }
            if (turn % 8 == 0) changed[random() % changed.size()] = static_cast<char>(random());
            const trace read = import_trace(changed, recording_format::heaptrack, {1000});
            EXPECT_EQ(broken_promise(read), "");
        }
    }
}

}
