// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The reader of traces: what it makes of valid files, of damaged ones and of any bytes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "observe/trace/trace_packer.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/trace/trace_writer.hpp"
#include "trace/raw_trace.hpp"
#include "trace/trace_order.hpp"

namespace {

using tenure::lab::pack_trace;
using tenure::lab::read_trace;
using tenure::lab::trace;
using tenure::lab::trace_call;
using tenure::lab::trace_event;
using tenure::lab::trace_family;
using tenure::lab::write_trace;
namespace format = tenure::lab::trace_format;

constexpr int malloc_kind = 0, new_kind = 1, zeroed_kind = 2;

trace read_valid(const std::string& bytes) {
    trace read = read_trace(bytes);
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(read.damage, "");
    EXPECT_EQ(broken_promise(read), "");
    return read;
}

TEST(trace_reader, events_of_one_thread_are_read_in_their_order) {
    const trace read = read_valid(raw_trace({raw_chunk(0, 0, 0, 1000)
                                                 .allocate(malloc_kind, 27)
                                                 .allocate(new_kind, 28)
                                                 .allocate(zeroed_kind, 283)
                                                 .time(500)
                                                 .aligned(284, 6, false)
                                                 .aligned(65'536, 12, true)
                                                 .allocate(malloc_kind, std::uint64_t{1} << 33)
                                                 .free_own(1)
                                                 .resize(100, 0, 0)
                                                 .free_own(6) // the name that the resize has given it
                                                 .unknown_free()
                                                 .frame()
                                                 .mark("loading")}));
    ASSERT_EQ(read.events.size(), 11u);
    EXPECT_EQ(read.blocks, 6u);
    EXPECT_EQ(read.threads, 1u);
    EXPECT_EQ(read.process, 77u);
    EXPECT_EQ(read.unknown_frees, 1u);
    const std::uint64_t sizes[] = {27, 28, 283, 284, 65'536, std::uint64_t{1} << 33};
    const trace_family families[] = {trace_family::malloc,  trace_family::operator_new, trace_family::zeroed,
                                     trace_family::aligned, trace_family::aligned_new,  trace_family::malloc};
    for (std::size_t index = 0; index < 6; ++index) {
        EXPECT_EQ(read.events[index].call, trace_call::allocate);
        EXPECT_EQ(read.events[index].bytes, sizes[index]);
        EXPECT_EQ(read.events[index].family, families[index]);
        EXPECT_EQ(read.events[index].time_ns, index < 3 ? 0u : 500u);
    }
    EXPECT_EQ(read.events[3].alignment_log2, 6);
    EXPECT_EQ(read.events[4].alignment_log2, 12);
    EXPECT_EQ(read.events[5].alignment_log2, 4);
    EXPECT_EQ(read.events[6].block, 1u);
    EXPECT_EQ(read.events[6].bytes, 28u);
    EXPECT_EQ(read.events[6].family, trace_family::operator_new);
    EXPECT_EQ(read.events[7].call, trace_call::resize);
    EXPECT_EQ(read.events[7].bytes, 100u);
    EXPECT_EQ(read.events[8].call, trace_call::deallocate);
    EXPECT_EQ(read.events[8].block, 0u);
    EXPECT_EQ(read.events[8].bytes, 100u);
    EXPECT_EQ(read.events[9].call, trace_call::frame);
    EXPECT_EQ(read.events[10].call, trace_call::mark);
    EXPECT_EQ(read.marks, std::vector<std::string>{"loading"});
}

TEST(trace_reader, a_free_waits_for_the_allocation_on_another_thread_whatever_the_times_say) {
    const trace read = read_valid(raw_trace({
        raw_chunk(0, 0, 0, 9000).allocate(malloc_kind, 10).allocate(malloc_kind, 11),
        raw_chunk(1, 0, 0, 1000).free_other(0, 1).resize(99, 0, 0).free_own(0),
        raw_chunk(2, 0, 0, 5000).allocate(malloc_kind, 12),
    }));
    ASSERT_EQ(read.events.size(), 6u);
    const std::uint64_t sizes[] = {12, 10, 11, 11, 99, 99};
    for (std::size_t index = 0; index < 6; ++index) EXPECT_EQ(read.events[index].bytes, sizes[index]) << index;
    EXPECT_EQ(read.threads, 3u);
    EXPECT_EQ(read.unknown_frees, 0u);
}

TEST(trace_reader, stacks_are_joined_and_known_to_all_threads) {
    const trace read = read_valid(raw_trace({raw_chunk(0, 0, 0, 2000)
                                                 .stack(1, {0x5000, 0x4000, 0x7fff'0000'0000})
                                                 .allocate(malloc_kind, 1)
                                                 .number(1)
                                                 .allocate(malloc_kind, 2)
                                                 .number(0),
                                             raw_chunk(1, 0, 0, 1000)
                                                 .allocate(malloc_kind, 3)
                                                 .number(1)
                                                 .stack(2, {0x5000, 0x4000, 0x7fff'0000'0000})
                                                 .allocate(malloc_kind, 4)
                                                 .number(2)},
                                            8));
    ASSERT_EQ(read.stacks.size(), 2u);
    EXPECT_EQ(read.stacks[1].frames, (std::vector<std::uint64_t>{0x5000, 0x4000, 0x7fff'0000'0000}));
    std::vector<std::uint32_t> stacks;
    for (const trace_event& each : read.events) stacks.push_back(each.stack);
    EXPECT_EQ(stacks, (std::vector<std::uint32_t>{1, 1, 1, 0}));
}

TEST(trace_reader, frees_have_stacks_where_the_header_says_so) {
    const std::vector<raw_chunk> chunks{raw_chunk(0, 0, 0, 1000)
                                            .stack(1, {0x5000, 0x4000})
                                            .stack(300, {0x6000, 0x4000})
                                            .allocate(malloc_kind, 1)
                                            .number(1)
                                            .allocate(malloc_kind, 2)
                                            .number(1)
                                            .free_own(0)
                                            .number(300)
                                            .resize(5, 0, 1)
                                            .number(300),
                                        raw_chunk(1, 0, 0, 2000).free_other(0, 2).number(1).frame()};
    const std::string raw = raw_trace(chunks, 8, 1);
    for (const std::string& bytes : {raw, pack_trace(raw).bytes, write_trace(read_trace(raw))}) {
        const trace read = read_valid(bytes);
        EXPECT_TRUE(read.has_free_stacks);
        std::vector<std::uint32_t> stacks;
        for (const trace_event& each : read.events) stacks.push_back(each.stack);
        EXPECT_EQ(stacks, (std::vector<std::uint32_t>{1, 1, 2, 2, 1, 0}));
        EXPECT_EQ(read.events[4].call, trace_call::deallocate);
    }
}

TEST(trace_reader, a_file_of_version_2_is_read_and_packed_as_one_of_this_version) {
    // Its header ends before free_stacks: there is the first chunk.
    std::string file =
        raw_trace({raw_chunk(0, 0, 0, 1000).stack(1, {0x5000}).allocate(malloc_kind, 7).number(1).free_own(0)}, 8);
    const std::uint32_t version = 2;
    file.replace(offsetof(format::file_header, version), sizeof version,
                 std::string(reinterpret_cast<const char*>(&version), sizeof version));
    file.replace(format::header_bytes_2, 4, std::string(4, '\x01'));
    for (const std::string& bytes : {file, pack_trace(file).bytes}) {
        const trace read = read_valid(bytes);
        ASSERT_EQ(read.events.size(), 2u);
        EXPECT_FALSE(read.has_free_stacks);
        EXPECT_EQ(read.events[0].stack, 1u);
        EXPECT_EQ(read.events[1].stack, 0u);
    }
    std::string packed = pack_trace(file).bytes;
    EXPECT_EQ(packed[offsetof(format::file_header, version)], 3);
    // A packed file of version 2 has its chunks right behind the shorter header.
    format::file_header header{};
    std::memcpy(&header, packed.data(), sizeof header);
    header.version = version;
    header.header_bytes = format::header_bytes_2;
    std::string old(reinterpret_cast<const char*>(&header), format::header_bytes_2);
    old += packed.substr(sizeof header);
    EXPECT_EQ(read_valid(old).events.size(), 2u);
}

/// What a random program did, and its file.
struct modelled {
    std::string file;
    std::vector<std::uint64_t> freed_sizes, live_sizes; ///< each size occurs once
};

/// Threads take turns; a turn is one event. Times only say which chunk came first.
modelled random_trace(unsigned seed, std::size_t turns) {
    struct live {
        std::uint32_t thread;
        std::uint64_t number, size;
    };
    constexpr std::uint32_t threads = 5;
    std::minstd_rand random(seed);
    modelled made;
    std::vector<raw_chunk> done, open;
    std::vector<std::uint32_t> sequences(threads, 1);
    for (std::uint32_t each = 0; each < threads; ++each) open.emplace_back(each, 0, 0, 1000);
    std::vector<live> blocks;
    std::uint64_t next_size = 1;
    for (std::size_t turn = 0; turn < turns; ++turn) {
        const auto thread = static_cast<std::uint32_t>(random() % threads);
        raw_chunk& chunk = open[thread];
        const unsigned action = random() % 8;
        if (blocks.empty() || action < 4) {
            blocks.push_back({thread, chunk.next(), next_size});
            chunk.allocate(static_cast<int>(random() % 3), next_size++);
        } else {
            const std::size_t index = random() % blocks.size();
            live& block = blocks[index];
            if (action == 4) {
                const std::uint64_t number = chunk.next();
                chunk.resize(next_size, block.thread, block.number);
                block = {thread, number, next_size++};
            } else {
                block.thread == thread ? chunk.free_own(block.number) : chunk.free_other(block.thread, block.number);
                made.freed_sizes.push_back(block.size);
                block = blocks.back();
                blocks.pop_back();
            }
        }
        if (random() % 10 == 0) chunk.time(random() % 1000);
        if (random() % 50 == 0) {
            done.push_back(chunk);
            chunk = raw_chunk(thread, sequences[thread]++, chunk.next(), 1000 + turn);
        }
    }
    for (const live& each : blocks) made.live_sizes.push_back(each.size);
    done.insert(done.end(), open.begin(), open.end());
    std::shuffle(done.begin(), done.end(), random); // their order in the file says nothing
    made.file = raw_trace(done);
    return made;
}

void expect_model(const trace& read, modelled made) {
    std::vector<std::uint64_t> freed, sizes(read.blocks), live;
    std::vector<bool> is_freed(read.blocks);
    for (const trace_event& each : read.events) {
        sizes[each.block] = each.bytes;
        if (each.call == trace_call::deallocate) {
            freed.push_back(each.bytes);
            is_freed[each.block] = true;
        }
    }
    for (std::size_t block = 0; block < sizes.size(); ++block)
        if (!is_freed[block]) live.push_back(sizes[block]);
    for (auto* const each : {&freed, &live, &made.freed_sizes, &made.live_sizes}) std::sort(each->begin(), each->end());
    EXPECT_EQ(freed, made.freed_sizes);
    EXPECT_EQ(live, made.live_sizes);
    EXPECT_EQ(read.unknown_frees, 0u);
}

TEST(trace_reader, random_threads_that_share_blocks_are_read_as_they_were) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        const modelled made = random_trace(seed, 1500);
        expect_model(read_valid(made.file), made);
        const auto packed = pack_trace(made.file);
        ASSERT_TRUE(packed.ok());
        EXPECT_LT(packed.bytes.size(), made.file.size());
        expect_model(read_valid(packed.bytes), made);
    }
}

TEST(trace_reader, a_trace_that_is_written_is_read_as_it_was) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE(seed);
        const modelled made = random_trace(seed, 1500);
        const trace whole = read_valid(made.file);
        expect_model(read_valid(write_trace(whole)), made);
    }
    const trace stacked = read_valid(raw_trace(
        {raw_chunk(0, 0, 0, 5000).stack(9, {0x5000, 0x4000}).aligned(100, 8, true).number(9).frame().mark("late")}, 2));
    const trace again = read_valid(write_trace(stacked));
    ASSERT_EQ(again.events.size(), 3u);
    EXPECT_EQ(again.stacks[again.events[0].stack].frames, (std::vector<std::uint64_t>{0x5000, 0x4000}));
    EXPECT_EQ(again.events[0].family, trace_family::aligned_new);
    EXPECT_EQ(again.events[0].alignment_log2, 8);
    EXPECT_EQ(again.marks, std::vector<std::string>{"late"});
    EXPECT_EQ(again.process, 77u);
    EXPECT_EQ(stacked.stack_frames, 2u);
    EXPECT_EQ(again.stack_frames, 2u) << "it still counts as cut short";
    trace unlimited = stacked;
    unlimited.stack_frames = 0;
    EXPECT_EQ(read_valid(write_trace(unlimited)).stack_frames, 3u) << "no stack counts as cut short";
}

TEST(trace_reader, a_part_begins_with_what_is_in_use) {
    const trace whole = read_valid(raw_trace({
        raw_chunk(0, 0, 0, 1000)
            .allocate(malloc_kind, 10)
            .allocate(new_kind, 20)
            .allocate(malloc_kind, 30)
            .free_own(0)
            .resize(31, 0, 2)
            .time(5000)
            .allocate(malloc_kind, 40)
            .free_own(1)
            .time(5000)
            .free_own(3),
    }));
    const trace part = tenure::lab::cut_trace(whole, 5000, 10'000);
    EXPECT_EQ(broken_promise(part), "");
    std::vector<std::uint64_t> sizes, times;
    for (const trace_event& each : part.events) {
        sizes.push_back(each.bytes);
        times.push_back(each.time_ns);
    }
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{20, 31, 40, 20}));
    EXPECT_EQ(times, (std::vector<std::uint64_t>{0, 0, 0, 0}));
    EXPECT_EQ(part.events[0].family, trace_family::operator_new);
    EXPECT_EQ(part.events[3].call, trace_call::deallocate);
    for (unsigned seed = 1; seed <= 30; ++seed) {
        const trace random = read_valid(random_trace(seed, 1500).file);
        for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{3000}, std::uint64_t{40'000}})
            EXPECT_EQ(broken_promise(read_valid(write_trace(tenure::lab::cut_trace(random, from, from + 20'000)))), "");
    }
}

TEST(trace_reader, a_file_of_another_kind_or_version_is_refused) {
    EXPECT_NE(read_trace("").error, "");
    EXPECT_NE(read_trace(std::string(5000, 'x')).error, "");
    std::string newer = raw_trace({});
    newer[8] = 4;
    EXPECT_NE(read_trace(newer).error.find("version 4"), std::string::npos);
    EXPECT_FALSE(pack_trace(newer).ok());
    newer[8] = 1;
    EXPECT_NE(read_trace(newer).error.find("version 1"), std::string::npos);
    EXPECT_FALSE(pack_trace(newer).ok());
}

TEST(trace_reader, what_comes_before_and_after_damage_is_read) {
    const std::string whole = random_trace(5, 3000).file;
    const std::size_t events = read_valid(whole).events.size();
    std::string damaged = whole;
    const std::size_t middle = damaged.size() / 2 / format::page_bytes * format::page_bytes;
    damaged[middle] ^= 1; // a chunk is not found
    const trace read = read_trace(damaged);
    EXPECT_TRUE(read.ok());
    EXPECT_NE(read.damage, "");
    EXPECT_EQ(broken_promise(read), "");
    EXPECT_GT(read.events.size(), events / 2);
    EXPECT_LT(read.events.size(), events);
    const trace packed = read_trace(pack_trace(damaged).bytes);
    EXPECT_EQ(packed.events.size(), read.events.size());
    EXPECT_NE(packed.damage, "") << "the packed file says what the raw one lacked";
}

TEST(trace_reader, threads_that_wait_for_each_other_in_a_circle_are_damage) {
    const trace read = read_trace(raw_trace({
        raw_chunk(0, 0, 0, 1000).free_other(1, 0).allocate(malloc_kind, 1),
        raw_chunk(1, 0, 0, 1000).free_other(0, 0).allocate(malloc_kind, 2),
    }));
    EXPECT_NE(read.damage, "");
    EXPECT_EQ(read.blocks, 2u);
    EXPECT_EQ(broken_promise(read), "");
}

TEST(trace_reader, events_past_the_limit_are_left_out) {
    const trace read = read_trace(random_trace(3, 1000).file, {100});
    EXPECT_EQ(read.events.size(), 100u);
    EXPECT_NE(read.damage, "");
    EXPECT_EQ(broken_promise(read), "");
}

TEST(trace_reader, thousands_of_damaged_files_are_read_or_refused) {
    std::minstd_rand random(99);
    const std::string raw = random_trace(7, 400).file;
    const std::string packed = pack_trace(raw).bytes;
    std::size_t damaged = 0;
    for (int turn = 0; turn < 4000; ++turn) {
        std::string bytes = turn % 2 == 0 ? raw : packed;
        for (unsigned count = random() % 4 + 1; count > 0; --count) {
            // Most changes where there is something: in headers and the beginning of payloads.
            std::size_t at = random() % bytes.size();
            if (turn % 2 == 0) at = at / 4096 * 4096 + random() % 200;
            bytes[std::min(at, bytes.size() - 1)] ^= static_cast<char>(1 << random() % 8);
        }
        if (turn % 5 == 0) bytes.resize(random() % bytes.size());
        const trace read = read_trace(bytes);
        ASSERT_EQ(broken_promise(read), "") << turn;
        damaged += std::size_t{!read.damage.empty() || !read.ok()};
    }
    EXPECT_GT(damaged, 2000u);
}

}
