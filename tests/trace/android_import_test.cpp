// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The text of Android's malloc debug as a trace.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

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

constexpr const char* every_call = "100: malloc 0xb48390a0 48\n"
                                   "200: calloc 0xb48c1100 32 8\n"
                                   "400: memalign 0xae42d080 64 104\n"
                                   "300: realloc 0x96b90920 0xb48390a0 150\n"
                                   "100: realloc 0x77000000 0x0 20\n"
                                   "500: free 0xb48c1100\n"
                                   "600: thread_done 0x0\n"
                                   "100: free 0x96b90920\n";

TEST(android_import, each_call_is_an_event_of_its_thread) {
    const trace read = read_whole(every_call);
    EXPECT_EQ(calls_of(read), (texts{"a0:48", "a1:256", "a2:104", "r0:150", "a3:20", "d1:256", "d0:150"}));
    const trace_family families[] = {trace_family::malloc, trace_family::zeroed, trace_family::aligned,
                                     trace_family::malloc, trace_family::malloc, trace_family::zeroed,
                                     trace_family::malloc};
    const std::uint32_t threads[] = {0, 1, 2, 3, 0, 4, 0};
    for (std::size_t index = 0; index < read.events.size(); ++index) {
        EXPECT_EQ(read.events[index].family, families[index]) << index;
        EXPECT_EQ(read.events[index].thread, threads[index]) << index;
    }
    EXPECT_EQ(read.events[2].alignment_log2, 6);
    EXPECT_EQ(read.events[3].alignment_log2, 4);
    EXPECT_EQ(read.threads, 5u) << "one that only ended has no event";
    EXPECT_EQ(read.unknown_frees, 0u);
    EXPECT_EQ(read.stacks.size(), 1u);
}

TEST(android_import, without_times_the_order_of_the_lines_is_kept_in_the_file) {
    std::string text;
    for (int index = 0; index < 500; ++index)
        text += fmt::format("{}: malloc {:#x} {}\n", index % 7, 4096 + index * 16, index + 1);
    const trace again = tenure::lab::read_trace(tenure::lab::write_trace(read_whole(text)));
    ASSERT_EQ(again.events.size(), 500u);
    for (std::size_t index = 0; index < 500; ++index) EXPECT_EQ(again.events[index].bytes, index + 1);
}

TEST(android_import, times_begin_with_the_earliest_and_never_fall_within_a_thread) {
    const trace read = read_whole("7: malloc 0x5000 10 9000000500 9000000600\n"
                                  "8: malloc 0x6000 20 9000000000 9000000700\n"
                                  "7: free 0x6000 9000000400 9000000401\n"
                                  "8: calloc 0x7000 2 4 9000002000 9000002001\n"
                                  "8: memalign 0x8000 32 4 9000003000 9000003001\n"
                                  "8: realloc 0x9000 0x8000 9 9000004000 9000004001\n"
                                  "8: thread_done 0x0 9000009000\n");
    std::vector<std::uint64_t> times;
    for (const trace_event& each : read.events) times.push_back(each.time_ns);
    EXPECT_EQ(times, (std::vector<std::uint64_t>{500, 0, 500, 2000, 3000, 4000}));
}

TEST(android_import, calls_that_allocate_and_free_nothing_are_no_events) {
    const trace read =
        read_whole("1: free 0x0\n2: malloc 0x0 18446744073709551615\n2: calloc 0x0 18446744073709551615 9\n"
                   "2: memalign 0x0 0 5\n3: realloc 0x0 0x0 0\n\n4: malloc 0x5000 0\n"
                   "5: realloc 0x0 0x5000 999\n4: realloc 0x0 0x5000 0\n");
    EXPECT_EQ(calls_of(read), (texts{"a0:0", "d0:0"}));
    EXPECT_EQ(read.threads, 1u);
}

TEST(android_import, frees_of_blocks_from_before_the_recording_are_counted) {
    const trace read = read_whole("1: free 0x5000\n1: realloc 0x7000 0x6000 30\n1: free 0x7000\n1: free 0x7000\n");
    EXPECT_EQ(calls_of(read), (texts{"a0:30", "d0:30"}));
    EXPECT_EQ(read.unknown_frees, 3u);
}

TEST(android_import, a_block_ends_when_its_address_is_allocated_again) {
    const trace read = read_whole("1: malloc 0x5000 1\n2: malloc 0x5000 2\n1: malloc 0x6000 3\n"
                                  "2: realloc 0x6000 0x5000 4\n1: free 0x6000\n");
    EXPECT_EQ(calls_of(read), (texts{"a0:1", "d0:1", "a1:2", "a2:3", "d2:3", "r1:4", "d1:4"}));
}

TEST(android_import, a_number_of_a_thread_that_has_ended_is_of_another_thread) {
    const trace read = read_whole("9: malloc 0x5000 1\n9: thread_done 0x0\n9: free 0x5000\n");
    EXPECT_EQ(read.threads, 2u);
}

TEST(android_import, alignments_are_rounded_up_to_powers_of_two) {
    const trace read =
        read_whole("1: memalign 0x10 0 5\n1: memalign 0x20 48 5\n1: memalign 0x30 9223372036854775808 5\n"
                   "1: memalign 0x40 16 5\n1: memalign 0x50 17 5\n");
    std::vector<int> logs;
    for (const trace_event& each : read.events) logs.push_back(each.alignment_log2);
    EXPECT_EQ(logs, (std::vector<int>{3, 6, 63, 4, 5}));
}

TEST(android_import, compressed_text_is_read_like_the_plain_one) {
    EXPECT_EQ(calls_of(read_whole(recordings::gzip(every_call))), calls_of(read_whole(every_call)));
    const std::string two =
        recordings::gzip(std::string(every_call).substr(0, 31)) + recordings::gzip(std::string(every_call).substr(31));
    EXPECT_EQ(calls_of(read_whole(two)), calls_of(read_whole(every_call))) << "one behind another";
}

TEST(android_import, reading_ends_at_a_line_that_cannot_be_read) {
    const char* const wrong[] = {
        "x",
        "1 malloc 0x5000 1",
        ": malloc 0x5000 1",
        "-1: malloc 0x5000 1",
        "1: malloc",
        "1: malloc 0x5000",
        "1: malloc 5g 7",
        "1: malloc 0x5000 -7",
        "1: malloc 0x5000 7 8",
        "1: malloc 0x5000 7 8 9 10",
        "1: malloc 0x5000 7 99999999999999999999 1",
        "1: malloc 0x5000 7 9223372036854775807 1",
        "1: malloc 0x10000000000000000 7",
        "1: calloc 0x5000 7",
        "1: calloc 0x5000 4294967296 4294967296",
        "1: memalign 0x5000 9223372036854775809 1",
        "1: realloc 0x5000 1",
        "1: free",
        "1: free 0x5000 1",
        "1: thread_done",
        "1: thread_done 0x0 soon",
        "1: valloc 0x5000 7",
    };
    for (const char* const each : wrong) {
        const trace read = read_damaged(std::string("1: malloc 0x4000 1\n") + each + "\n1: free 0x4000\n", "Line 2 ");
        EXPECT_EQ(calls_of(read), texts{"a0:1"}) << each;
    }
}

TEST(android_import, a_file_that_ends_early_is_read_to_its_last_whole_line) {
    const std::string text = every_call;
    for (std::size_t length = text.find('\n') + 1; length < text.size(); ++length) {
        if (text[length - 1] == '\n') continue;
        const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), '\n');
        static_cast<void>(read_damaged(text.substr(0, length), fmt::format("in line {}", lines + 1)));
    }
    std::string longer;
    for (int index = 1; index < 20'000; ++index) longer += fmt::format("1: malloc {:#x} {}\n", index * 7919, index);
    const std::string packed = recordings::gzip(longer);
    const trace read = read_damaged(packed.substr(0, packed.size() / 2), "damaged or ends early, in line ");
    EXPECT_GT(read.events.size(), 1000u);
    EXPECT_LT(read.events.size(), 19'999u);
}

TEST(android_import, limits_end_the_reading) {
    import_limits limits;
    limits.events = 3;
    EXPECT_EQ(read_damaged(every_call, "more than 2 events", limits).events.size(), 2u);
    limits = {};
    limits.threads = 2;
    EXPECT_EQ(read_damaged(every_call, "more than 2 threads", limits).events.size(), 2u);
    limits = {};
    limits.text_bytes = 100'000;
    const std::string spaces = recordings::gzip(every_call + std::string(500'000, '\n'));
    EXPECT_EQ(read_damaged(spaces, "too long", limits).events.size(), 7u);
    limits = {};
    static_cast<void>(read_damaged(every_call + std::string(5 << 20, 'x') + "\n", "Line 9 has more than", limits));
}

TEST(android_import, a_file_of_another_kind_is_refused) {
    for (const char* const each : {"", "\n", "hello\n", "1: hello 0x1\n", "TNTRACE\n"}) {
        EXPECT_NE(import_trace(each).error.find("no recording"), std::string::npos) << each;
        EXPECT_FALSE(import_trace(each, recording_format::android).damage.empty() && *each > '\n') << each;
    }
    EXPECT_NE(import_trace("PK\x03\x04...").error.find("unzip"), std::string::npos);
    EXPECT_NE(import_trace("\x1F\x8B...").error, "");
    EXPECT_NE(import_trace(recordings::gzip("hello\n")).error, "");
}

TEST(android_import, any_bytes_keep_the_promises) {
    std::minstd_rand random(7);
    const std::string text = every_call;
    for (int turn = 0; turn < 3000; ++turn) {
        std::string changed = text;
        for (int change = 0; change < 4; ++change) changed[random() % changed.size()] = static_cast<char>(random());
        if (turn % 3 == 0) changed = recordings::gzip(changed);
        if (turn % 6 == 0) changed[random() % changed.size()] = static_cast<char>(random());
        const trace read = import_trace(changed, recording_format::android, {1000});
        EXPECT_EQ(broken_promise(read), "");
    }
}

}
