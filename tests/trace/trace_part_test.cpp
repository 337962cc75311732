// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Parts of traces that are opened without reading the whole file.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "observe/trace/part/trace_part.hpp"
#include "observe/trace/report/trace_text.hpp"
#include "observe/trace/trace_figures.hpp"
#include "observe/trace/trace_packer.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/trace/trace_writer.hpp"
#include "support/temporary_folder.hpp"
#include "trace/raw_trace.hpp"
#include "trace/trace_order.hpp"

namespace {

using namespace tenure::lab;

constexpr int plain_kind = 0;

/// Threads that take turns and share blocks. Each event has a time of its own, one microsecond after the one before.
class timed_program {
public:
    explicit timed_program(unsigned seed) : random_(seed) {
        for (std::uint32_t each = 0; each < threads; ++each) {
            open_.emplace_back(each, 0, 0, now_);
            times_.push_back(now_);
        }
        // One of the first chunk defines all stacks.
        for (std::uint32_t id = 1; id < 5; ++id) open_[0].stack(id, {0x1000 + id, 0x2000});
    }

    std::string file(std::size_t turns) {
        for (std::size_t turn = 0; turn < turns; ++turn) take_turn();
        done_.insert(done_.end(), open_.begin(), open_.end());
        return raw_trace(done_, 8, 1);
    }

private:
    static constexpr std::uint32_t threads = 4;

    struct live {
        std::uint32_t thread;
        std::uint64_t number;
    };

    void take_turn() {
        now_ += 1000;
        const auto thread = static_cast<std::uint32_t>(random_() % threads);
        if (random_() % 60 == 0) {
            done_.push_back(open_[thread]);
            open_[thread] = raw_chunk(thread, ++sequences_[thread], open_[thread].next(), now_);
            times_[thread] = now_;
        }
        raw_chunk& chunk = open_[thread];
        chunk.time(now_ - times_[thread]);
        times_[thread] = now_;
        const auto action = random_() % 9;
        if (blocks_.empty() || action < 4) {
            blocks_.push_back({thread, chunk.next()});
            chunk.allocate(static_cast<int>(random_() % 3), ++size_);
        } else {
            const std::size_t index = random_() % blocks_.size();
            live& block = blocks_[index];
            if (action == 4) {
                const std::uint64_t number = chunk.next();
                chunk.resize(++size_, block.thread, block.number);
                block = {thread, number};
            } else {
                block.thread == thread ? chunk.free_own(block.number) : chunk.free_other(block.thread, block.number);
                block = blocks_.back();
                blocks_.pop_back();
            }
        }
        chunk.number(random_() % 5);
    }

    std::minstd_rand random_;
    std::uint64_t now_ = 2000, size_ = 0;
    std::vector<raw_chunk> done_, open_;
    std::vector<std::uint64_t> times_;
    std::uint32_t sequences_[threads] = {};
    std::vector<live> blocks_;
};

/// The events, with the frames of their stacks: a part numbers these anew.
std::vector<std::string> lines_of(const trace& of) {
    std::vector<std::string> lines;
    for (const trace_event& each : of.events) {
        std::string line = fmt::format("{} {} {} {} {} {} {}", each.block, each.bytes, each.time_ns, each.thread,
                                       name_of(each.call), name_of(each.family), each.alignment_log2);
        for (const std::uint64_t frame : of.stacks[each.stack].frames) line += fmt::format(" {:x}", frame);
        lines.push_back(line);
    }
    return lines;
}

class trace_part : public testing::Test {
protected:
    [[nodiscard]] trace part_of(const std::string& bytes, std::uint64_t from_ns, std::uint64_t to_ns) const {
        const std::string path = folder_.path() / "a.trace";
        std::ofstream(path, std::ios::binary) << bytes;
        trace found = load_part(path, from_ns, to_ns);
        EXPECT_EQ(found.error, "");
        EXPECT_EQ(broken_promise(found), "");
        return found;
    }

    support::temporary_folder folder_;
};

TEST_F(trace_part, a_part_in_a_file_says_where_it_lies) {
    const trace whole = read_trace(timed_program(3).file(3000));
    EXPECT_FALSE(whole.part.has_value());
    const std::uint64_t end = whole.events.back().time_ns, ms = 1'000'000;
    const trace cut = cut_trace(whole, ms, 5 * ms);
    const trace part = read_trace(write_trace(cut));
    ASSERT_TRUE(part.part.has_value());
    EXPECT_EQ(part.part->from_ns, ms);
    EXPECT_EQ(part.part->to_ns, 5 * ms);
    EXPECT_EQ(part.part->whole_ns, end);
    EXPECT_EQ(part.part->older_blocks, cut.older_blocks);
    EXPECT_GT(cut.older_blocks, 0U);
    const trace of_part = read_trace(write_trace(cut_trace(part, ms, UINT64_MAX)));
    ASSERT_TRUE(of_part.part.has_value());
    EXPECT_EQ(of_part.part->from_ns, 2 * ms);
    EXPECT_EQ(of_part.part->to_ns, 5 * ms);
    EXPECT_EQ(of_part.part->whole_ns, end);
}

TEST_F(trace_part, is_what_is_cut_of_the_whole) {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        const std::string raw = timed_program(seed).file(3000), packed = pack_trace(raw).bytes;
        const trace whole = read_trace(raw);
        ASSERT_EQ(whole.damage, "");
        ASSERT_EQ(whole.events.size(), 3000u);
        const std::uint64_t end = whole.events.back().time_ns;
        for (const auto& [from, to] : {std::pair{end / 2, end / 2 + end / 50}, std::pair{end / 3, end + 1},
                                       std::pair{std::uint64_t{0}, end / 4}, std::pair{end + 5, end + 9}}) {
            const trace cut = cut_trace(whole, from, to);
            for (const std::string& bytes : {raw, packed}) {
                const trace part = part_of(bytes, from, to);
                EXPECT_EQ(part.damage, "");
                EXPECT_EQ(lines_of(part), lines_of(cut)) << seed << " " << from << " " << to;
                EXPECT_TRUE(part.is_part);
                EXPECT_TRUE(part.has_free_stacks);
                EXPECT_EQ(part.older_blocks, cut.older_blocks);
                EXPECT_EQ(part.older_blocks != 0, from != 0);
            }
        }
    }
}

/// The file with a wrong byte in the payload of each chunk of events that begins at this time or later, or before it.
std::string with_wrong_chunks(std::string packed, std::uint64_t time_ns, bool is_after) {
    const trace_chunks found = find_chunks(packed);
    for (const trace_chunk& each : found.all) {
        if (each.header.kind != trace_format::chunk_kind::events || each.stored.empty()) continue;
        if ((each.header.ticks >= found.header.first_ticks + time_ns) == is_after)
            packed[static_cast<std::size_t>(each.stored.data() - packed.data())] ^= 1;
    }
    return packed;
}

TEST_F(trace_part, chunks_behind_it_are_not_read) {
    const std::string packed = pack_trace(timed_program(3).file(6000)).bytes;
    constexpr std::uint64_t from = 1'000'000, to = 1'500'000;
    const std::string wrong = with_wrong_chunks(packed, to, true);
    ASSERT_NE(read_trace(wrong).damage, "") << "the whole file is damaged";
    const trace part = part_of(wrong, from, to);
    EXPECT_EQ(part.damage, "");
    EXPECT_EQ(lines_of(part), lines_of(cut_trace(read_trace(packed), from, to)));
}

TEST_F(trace_part, damage_before_it_is_told) {
    const std::string packed = pack_trace(timed_program(3).file(6000)).bytes;
    const std::string wrong = with_wrong_chunks(packed, 500'000, false);
    const trace part = part_of(wrong, 1'000'000, 1'500'000);
    EXPECT_NE(part.damage, "");
    EXPECT_EQ(lines_of(part), lines_of(cut_trace(read_trace(wrong), 1'000'000, 1'500'000)));
    EXPECT_NE(part_of(packed.substr(0, packed.size() * 2 / 3), 1'000'000, 1'500'000).damage, "") << "cut off";
}

TEST_F(trace_part, a_free_in_a_chunk_before_it_frees_a_block_of_the_part) {
    // The clock of thread 1 is behind: before the part it frees a block that thread 0 allocates in it.
    const std::string file = raw_trace({
        raw_chunk(0, 0, 0, 2000).allocate(plain_kind, 10),
        raw_chunk(1, 0, 0, 2500).allocate(plain_kind, 20).free_other(0, 1),
        raw_chunk(0, 1, 1, 500'000).allocate(plain_kind, 11).allocate(plain_kind, 12),
        raw_chunk(1, 1, 1, 400'000).allocate(plain_kind, 21),
    });
    const trace part = part_of(file, 450'000, 900'000);
    EXPECT_EQ(part.damage, "");
    EXPECT_EQ(part.older_blocks, 3u) << "of 10, 20 and 21 bytes";
    std::vector<std::uint64_t> freed, live;
    for (const trace_event& each : part.events)
        (each.call == trace_call::deallocate ? freed : live).push_back(each.bytes);
    EXPECT_EQ(freed, std::vector<std::uint64_t>{11});
    EXPECT_EQ(live, (std::vector<std::uint64_t>{10, 20, 21, 11, 12}));
}

TEST_F(trace_part, knows_whether_the_trace_goes_on) {
    const std::string raw = timed_program(7).file(3000);
    const std::uint64_t end = read_trace(raw).events.back().time_ns;
    EXPECT_EQ(part_of(raw, end + 5, end + 9).whole_ns, end);
    EXPECT_EQ(part_of(raw, end / 2, UINT64_MAX).whole_ns, end);
    EXPECT_EQ(cut_trace(read_trace(raw), end + 5, end + 9).whole_ns, end);
    // Nothing happens in the part. What begins after it is not read.
    const std::string quiet = raw_trace({
        raw_chunk(0, 0, 0, 2000).allocate(plain_kind, 10),
        raw_chunk(0, 1, 1, 500'000).allocate(plain_kind, 11),
    });
    EXPECT_GE(part_of(quiet, 100'000, 200'000).whole_ns, 499'000u);
}

TEST_F(trace_part, what_is_no_trace_is_refused) {
    const std::string path = folder_.path() / "a.trace";
    std::ofstream(path) << "no trace";
    EXPECT_NE(load_part(path, 0, 5).error.find("not a trace"), std::string::npos);
    EXPECT_NE(load_part(path + ".none", 0, 5).error, "");
}

TEST_F(trace_part, too_many_blocks_for_memory_are_told) {
    const std::string path = folder_.path() / "a.trace";
    std::ofstream(path, std::ios::binary) << timed_program(5).file(3000);
    const trace part = load_part(path, 2'500'000, 2'600'000, {.events = 20});
    EXPECT_NE(part.damage.find("more than 20 events"), std::string::npos) << part.damage;
}

TEST(trace_text, one_of_a_kind_is_said_in_the_singular) {
    const trace one = read_trace(raw_trace({raw_chunk(0, 0, 0, 2000).allocate(plain_kind, 10).free_own(0)}));
    const std::string text = to_text(one, figures_of(one), 5000);
    EXPECT_NE(text.find("2: 1 allocation, 0 resizes, 1 free\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("older blocks"), std::string::npos);
    const trace cut = cut_trace(one, 0, 5'000'000);
    EXPECT_NE(to_text(cut, figures_of(cut), 5000).find("older blocks      0"), std::string::npos);
}

}
