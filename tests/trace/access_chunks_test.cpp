// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Windows of watched blocks in a trace's file.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "observe/trace/access/access_chunks.hpp"
#include "observe/trace/access/live_blocks.hpp"
#include "observe/trace/report/trace_export.hpp"
#include "observe/trace/report/trace_text.hpp"
#include "observe/trace/trace_figures.hpp"
#include "observe/trace/trace_packer.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/trace/trace_writer.hpp"
#include "trace/raw_trace.hpp"
#include "trace/trace_order.hpp"

namespace {

using namespace tenure::lab;
namespace format = tenure::lab::trace_format;

constexpr int of_malloc = 0;

constexpr std::uint64_t resized_ns = 25'000;

/// Thread 0 allocates blocks 0 and 1, and resizes the first, which gets the name 2; thread 1 allocates one, and frees
/// block 1.
std::string allocating_threads() {
    raw_chunk first(0, 0, 0, 1000), second(1, 0, 0, 9000);
    first.allocate(of_malloc, 100).allocate(of_malloc, 200).time(resized_ns).resize(300, 0, 0);
    second.allocate(of_malloc, 400).time(500'000).free_other(0, 1);
    return raw_trace({first, second});
}

access_window window_of(std::uint64_t begin_ns, std::uint64_t end_ns, window_choice choice) {
    return {begin_ns, end_ns, choice, 2000, 8, {}};
}

/// Two windows: of the blocks 0 (before its resize, and behind it by its other name), 1, and that of thread 1.
std::string two_windows() {
    std::string payload;
    access_window first = window_of(10'000, 20'000, window_choice::successive);
    first.blocks.push_back({0, 8, 40, {{11'000, 0x4000, 0}, {12'500, 0x3000, 1}}});
    first.blocks.push_back({0, 0, 0, {}});
    first.processor_ns = 7000;
    append_window(payload, first, {{0, 0}, {0, 1}});
    access_window second = window_of(30'000, 50'000, window_choice::matched);
    second.blocks.push_back({0, 16, 1, {{30'000, 0x7fff'0000'0000, 0}}});
    second.blocks.push_back({0, 0, 2, {{40'000, 0x10, 0}, {50'000, 0x10, 0}}});
    append_window(payload, second, {{0, 2}, {1, 0}});
    return payload;
}

trace read_with(const std::string& payload, const trace_limits& limits = {}) {
    const std::vector<std::string> payloads{payload};
    return read_trace(pack_trace(allocating_threads(), payloads).bytes, limits);
}

void expect_both_windows(const trace& found) {
    ASSERT_EQ(found.windows.size(), 2u);
    const access_window &first = found.windows[0], &second = found.windows[1];
    EXPECT_EQ(first.begin_ns, 10'000u);
    EXPECT_EQ(first.end_ns, 20'000u);
    EXPECT_EQ(first.choice, window_choice::successive);
    EXPECT_EQ(first.hit_ns, 2000u);
    EXPECT_EQ(first.max_hits, 8u);
    EXPECT_EQ(first.processor_ns, 7000u);
    EXPECT_EQ(second.processor_ns, access_window::unknown_ns);
    ASSERT_EQ(first.blocks.size(), 2u);
    EXPECT_EQ(first.blocks[0].block, 0u);
    EXPECT_EQ(first.blocks[0].offset, 8u);
    EXPECT_EQ(first.blocks[0].count, 40u);
    ASSERT_EQ(first.blocks[0].accesses.size(), 2u);
    EXPECT_EQ(first.blocks[0].accesses[1].time_ns, 12'500u);
    EXPECT_EQ(first.blocks[0].accesses[1].code, 0x3000u);
    EXPECT_EQ(first.blocks[0].accesses[1].thread, 1u);
    EXPECT_EQ(first.blocks[1].block, 1u);
    EXPECT_TRUE(first.blocks[1].accesses.empty());
    EXPECT_EQ(second.choice, window_choice::matched);
    ASSERT_EQ(second.blocks.size(), 2u);
    EXPECT_EQ(second.blocks[0].block, 0u) << "by the name that the resize has given it";
    EXPECT_EQ(second.blocks[0].accesses.at(0).code, 0x7fff'0000'0000u);
    EXPECT_EQ(second.blocks[1].block, 2u);
    EXPECT_EQ(second.blocks[1].accesses.at(1).time_ns, 50'000u);
}

TEST(access_chunks, windows_name_the_blocks_of_the_events) {
    const trace found = read_with(two_windows());
    EXPECT_EQ(found.damage, "");
    EXPECT_EQ(broken_promise(found), "");
    expect_both_windows(found);
}

TEST(access_chunks, a_trace_that_is_written_again_keeps_them) {
    const trace found = read_trace(write_trace(read_with(two_windows())));
    EXPECT_EQ(broken_promise(found), "");
    expect_both_windows(found);
    expect_both_windows(read_trace(pack_trace(write_trace(found)).bytes));
}

TEST(access_chunks, a_part_has_the_windows_that_begin_in_it) {
    const trace late = cut_trace(read_with(two_windows()), 25'000, 45'000);
    EXPECT_EQ(broken_promise(late), "");
    ASSERT_EQ(late.windows.size(), 1u);
    EXPECT_EQ(late.windows[0].begin_ns, 5'000u);
    EXPECT_EQ(late.windows[0].end_ns, 20'000u) << "the part ends there";
    ASSERT_EQ(late.windows[0].blocks.size(), 2u);
    EXPECT_EQ(late.windows[0].blocks[1].count, 1u);
    EXPECT_EQ(late.windows[0].blocks[1].accesses.at(0).time_ns, 15'000u);
    const trace early = cut_trace(read_with(two_windows()), 0, 25'000);
    EXPECT_EQ(early.windows.size(), 1u);
    EXPECT_TRUE(cut_trace(read_with(two_windows()), 600'000, 700'000).windows.empty());
}

TEST(access_chunks, a_block_that_no_event_allocates_is_left_out_and_a_couple_with_it) {
    for (const window_choice choice : {window_choice::random, window_choice::matched}) {
        std::string payload;
        access_window window = window_of(1, 2, choice);
        window.blocks.resize(2);
        append_window(payload, window, {{0, 0}, {7, 7}});
        const trace found = read_with(payload);
        EXPECT_EQ(found.damage, "");
        EXPECT_EQ(broken_promise(found), "");
        ASSERT_EQ(found.windows.size(), choice == window_choice::random ? 1u : 0u);
        if (choice == window_choice::random) {
            EXPECT_EQ(found.windows[0].blocks.size(), 1u);
        }
    }
}

TEST(access_chunks, what_is_touched_behind_the_free_of_a_block_is_left_out) {
    std::string payload;
    access_window window = window_of(400'000, 600'000, window_choice::random);
    window.blocks.push_back({0, 0, 3, {{450'000, 1, 0}, {520'000, 1, 0}, {580'000, 1, 0}}}); // freed at 508'000
    window.blocks.push_back({0, 0, 3, {{450'000, 1, 0}, {520'000, 1, 0}, {580'000, 1, 0}}}); // never
    append_window(payload, window, {{0, 1}, {0, 2}});
    const trace found = read_with(payload);
    ASSERT_EQ(found.windows.size(), 1u);
    EXPECT_EQ(found.windows[0].blocks[0].accesses.size(), 1u);
    EXPECT_EQ(found.windows[0].blocks[0].count, 1u);
    EXPECT_EQ(found.windows[0].blocks[1].accesses.size(), 3u);
}

TEST(access_chunks, what_is_touched_behind_a_resize_is_not_of_the_block_that_was_watched) {
    std::string payload;
    access_window window = window_of(20'000, 40'000, window_choice::random);
    window.blocks.push_back({0, 0, 3, {{21'000, 1, 0}, {26'000, 1, 0}, {39'000, 1, 0}}}); // its place before the resize
    window.blocks.push_back({0, 0, 3, {{21'000, 1, 0}, {26'000, 1, 0}, {39'000, 1, 0}}}); // its place behind it
    append_window(payload, window, {{0, 0}, {0, 2}});
    for (const trace& found : {read_with(payload), read_trace(write_trace(read_with(payload)))}) {
        ASSERT_EQ(found.windows.size(), 1u);
        const std::vector<watched_block>& blocks = found.windows[0].blocks;
        ASSERT_EQ(blocks.size(), 2u);
        EXPECT_EQ(blocks[0].block, blocks[1].block);
        ASSERT_EQ(blocks[0].accesses.size(), 1u);
        EXPECT_EQ(blocks[0].count, 1u);
        EXPECT_EQ(blocks[0].accesses[0].time_ns, 21'000u);
        EXPECT_EQ(blocks[1].accesses.size(), 2u);
    }
}

TEST(access_chunks, a_block_has_a_limited_number_of_accesses) {
    access_window window = window_of(10'000, 20'000, window_choice::random);
    window.blocks.push_back({0, 0, 0, {5000, trace_access{11'000, 1, 0}}});
    std::string payload;
    append_window(payload, window, {{0, 1}});
    const trace found = read_with(payload, {.events = 1'000'000});
    EXPECT_EQ(found.damage, "");
    ASSERT_EQ(found.windows.size(), 1u);
    EXPECT_EQ(found.windows[0].blocks[0].accesses.size(), max_block_accesses);
    EXPECT_EQ(found.windows[0].blocks[0].count, 5000u);
}

TEST(access_chunks, what_a_later_version_adds_to_a_window_is_skipped) {
    std::string window;
    append_window(window, window_of(5, 6, window_choice::random), {});
    std::string longer = window + "more";
    longer[0] = static_cast<char>(longer[0] + 4);
    std::string block;
    access_window one = window_of(7, 8, window_choice::random);
    one.blocks.resize(1);
    append_window(block, one, {{0, 1}});
    const trace found = read_with(longer + block);
    EXPECT_EQ(found.damage, "");
    ASSERT_EQ(found.windows.size(), 1u);
    EXPECT_EQ(found.windows[0].begin_ns, 7u);
}

TEST(access_chunks, damaged_ones_leave_the_events_and_say_so) {
    const std::string whole = two_windows();
    const std::size_t events = read_with(whole).events.size();
    std::size_t damaged = 0;
    for (std::size_t end = 1; end < whole.size(); ++end) {
        const trace found = read_with(whole.substr(0, end));
        EXPECT_EQ(found.events.size(), events) << end;
        EXPECT_EQ(broken_promise(found), "") << end;
        damaged += std::size_t{found.damage == "The file is damaged: accesses cannot be read."};
    }
    EXPECT_EQ(damaged, whole.size() - 2) << "only between the windows nothing is missing";
    for (std::size_t index = 0; index < whole.size(); ++index) {
        std::string changed = whole;
        changed[index] = '\xFF';
        const trace found = read_with(changed);
        EXPECT_EQ(found.events.size(), events) << index;
        EXPECT_EQ(broken_promise(found), "") << index;
    }
}

TEST(access_chunks, their_number_has_a_limit) {
    std::string payload;
    for (int index = 0; index < 10'000; ++index) append_window(payload, window_of(1, 2, window_choice::random), {});
    trace_limits limits;
    limits.events = 1000;
    const trace found = read_with(payload, limits);
    EXPECT_EQ(found.damage, "The file has more accesses than fit into memory: later ones were left out.");
    EXPECT_EQ(found.events.size(), 5u);
}

TEST(access_chunks, figures_and_exports_show_them) {
    const trace found = read_with(two_windows());
    const trace_figures figures = figures_of(found);
    EXPECT_EQ(figures.watched_blocks, 3u);
    EXPECT_EQ(figures.touched_blocks, 2u);
    EXPECT_EQ(figures.watched_ns, 30'000u);
    EXPECT_EQ(figures.accesses, 43u);
    EXPECT_NE(to_text(found, figures, 100).find("3 blocks, up to four at a time, in 2 windows of 30.0 us in all"),
              std::string::npos)
        << to_text(found, figures, 100);
    EXPECT_NE(to_json(found, figures, 100).find("\"touched_blocks\": 2"), std::string::npos);
    std::string csv, lines;
    export_csv(found, [&](std::string_view text) { return csv += text, true; });
    export_json_lines(found, [&](std::string_view text) { return lines += text, true; });
    EXPECT_NE(csv.find("\n10000,,watch,0,8,,,\n11000,,access,0,8,,,\n"), std::string::npos) << csv;
    EXPECT_NE(lines.find("{\"window\":2,\"time_ns\":30000,\"end_ns\":50000,\"choice\":\"matched\",\"watched\":0,"
                         "\"offset\":16,\"accesses\":1}\n"),
              std::string::npos)
        << lines;
}

TEST(access_chunks, the_list_of_blocks_in_use_stays_out_of_the_packed_file) {
    format::chunk_header list{};
    list.magic = format::chunk_magic;
    list.kind = format::chunk_kind::live_blocks;
    list.bytes = live_blocks_bytes;
    std::string raw = allocating_threads(), chunk(live_blocks_bytes, 'x');
    std::memcpy(chunk.data(), &list, sizeof list);
    raw.insert(format::page_bytes, chunk);
    const trace read = read_trace(raw);
    EXPECT_EQ(read.damage, "");
    EXPECT_EQ(read.events.size(), 5u);
    const packed_trace packed = pack_trace(raw);
    EXPECT_EQ(packed.damage, "");
    EXPECT_EQ(packed.bytes, pack_trace(allocating_threads()).bytes);
}

TEST(live_blocks, neighbours_of_a_thread_and_of_a_stack_are_listed_together) {
    constexpr std::uint32_t mask = 7;
    std::size_t listed = 0;
    for (std::uint64_t number = 0; number < 80'000; number += 8) {
        const bool is_listed = (live_blocks::hash_of(number) & mask) == 0;
        for (std::uint64_t next = number; next < number + 8; ++next)
            EXPECT_EQ((live_blocks::hash_of(next) & mask) == 0, is_listed) << next;
        listed += std::size_t{is_listed};
    }
    EXPECT_NEAR(static_cast<double>(listed), 1250, 150);
}

TEST(live_blocks, a_block_is_listed_until_it_is_removed_under_its_name) {
    const auto list = std::make_unique<live_blocks>();
    EXPECT_TRUE(list->add(0x1000, 5, 0, 1, 0, 100));
    EXPECT_TRUE(list->contains(0x1000, 5));
    list->remove(0x1000, 6);
    EXPECT_TRUE(list->contains(0x1000, 5));
    list->remove(0x1000, 5);
    EXPECT_FALSE(list->contains(0x1000, 5));
    for (std::uint64_t index = 0; index < live_blocks::max_steps; ++index)
        EXPECT_TRUE(list->add(0x1000, 10 + index, 0, 1, 0, 100));
    EXPECT_FALSE(list->add(0x1000, 99, 0, 1, 0, 100)) << "there is no room near its place";
}

/// Allocates and frees, without a reader, so many blocks that the table is full many times.
TEST(live_blocks, a_block_in_use_is_listed_if_and_only_if_it_is_of_the_sample) {
    struct block {
        std::uint64_t address, name;
        std::uint32_t ordinal;
    };
    constexpr std::uint64_t thread_zero = std::uint64_t{1} << 40;
    constexpr std::uint32_t all = 200'000;
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        const auto list = std::make_unique<live_blocks>();
        list->seed = seed;
        std::vector<block> blocks;
        for (std::uint32_t number = 0; number < all; ++number) {
            const block made{0x10000 + std::uint64_t{number} * 48, thread_zero | number, number / 3};
            list->add_sampled(made.address, made.name, 0, number % 3, made.ordinal, 32);
            if (number % 4 == 1)
                list->remove(made.address, made.name);
            else
                blocks.push_back(made);
        }
        const std::uint32_t mask = list->mask.load();
        EXPECT_GE(mask, 31u);
        std::size_t listed = 0, early = 0;
        for (const block& each : blocks) {
            const bool is_listed = list->contains(each.address, each.name);
            ASSERT_EQ(is_listed, list->is_sampled(mask, each.name, each.ordinal)) << each.name - thread_zero;
            listed += std::size_t{is_listed};
            early += std::size_t{is_listed && (each.name - thread_zero) < all / 2};
        }
        EXPECT_GT(listed, live_blocks::capacity / 8);
        EXPECT_NEAR(static_cast<double>(early) / static_cast<double>(listed), 0.5, 0.08)
            << "as many early ones as late";
    }
}

TEST(live_blocks, the_first_blocks_of_call_stacks_are_listed_in_some_recordings) {
    int listed = 0;
    const auto list = std::make_unique<live_blocks>();
    for (list->seed = 0; list->seed < 1000; ++list->seed) listed += list->is_sampled(15, 5, 0) ? 1 : 0;
    EXPECT_NEAR(listed, 121, 50) << "1 - (15 / 16)^2 of them";
}

}
