// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What a file of a few bytes can ask of its readers, and what the packed file promises.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "observe/trace/compression/compression.hpp"
#include "observe/trace/report/trace_text.hpp"
#include "observe/trace/trace_chunks.hpp"
#include "observe/trace/trace_figures.hpp"
#include "observe/trace/trace_packer.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/trace/trace_writer.hpp"
#include "trace/raw_trace.hpp"
#include "trace/trace_order.hpp"

namespace {

using tenure::lab::read_trace;
using tenure::lab::trace;
namespace format = tenure::lab::trace_format;

constexpr int by_malloc = 0;

std::string one_event() { return raw_trace({raw_chunk(0, 0, 0, 1000).allocate(by_malloc, 7)}); }

/// A chunk of a packed file, whatever its header says.
std::string packed_chunk(format::chunk_header header, std::string_view stored) {
    header.magic = format::chunk_magic;
    header.flags = format::has_checksum;
    header.stored = static_cast<std::uint32_t>(stored.size());
    header.bytes = static_cast<std::uint32_t>(sizeof header + stored.size());
    header.checksum = tenure::lab::checksum_of(header, stored);
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + std::string(stored);
}

/// A packed file with these bytes between its header and its chunks.
std::string with_first(std::string_view inserted) {
    std::string file = tenure::lab::pack_trace(one_event()).bytes;
    return file.insert(sizeof(format::file_header), inserted);
}

TEST(trace_limits, blocks_of_half_the_addresses_have_a_size_too) {
    for (const std::uint64_t bytes : {std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
        const trace read = read_trace(raw_trace({raw_chunk(0, 0, 0, 1000).allocate(by_malloc, bytes).free_own(0)}));
        const tenure::lab::trace_figures figures = tenure::lab::figures_of(read);
        ASSERT_EQ(figures.sizes.size(), 2u);
        EXPECT_EQ(figures.sizes[0].below, std::uint64_t{1} << 63);
        EXPECT_EQ(figures.sizes[1].blocks, 1u);
        EXPECT_NE(tenure::lab::to_text(read, figures, 100).find("and more"), std::string::npos);
        EXPECT_NE(tenure::lab::to_json(read, figures, 100), "");
    }
}

TEST(trace_limits, a_payload_takes_no_more_bytes_than_it_has) {
    format::chunk_header header{};
    header.kind = format::chunk_kind::arguments;
    for (const auto& [codec, used] : {std::pair{format::codec::plain, 10U}, std::pair{format::codec::plain, 200U},
                                      std::pair{format::codec::deflate, 100U}}) {
        header.stored_as = codec;
        header.used = used;
        const trace read = read_trace(with_first(packed_chunk(header, std::string(100, 'x'))));
        EXPECT_NE(read.damage.find("damaged at byte"), std::string::npos) << used << read.damage;
        EXPECT_EQ(read.blocks, 1u) << "what follows is read";
    }
}

TEST(trace_limits, a_file_of_wrong_checksums_is_given_up) {
    format::chunk_header header{};
    header.kind = format::chunk_kind::arguments;
    header.used = 10;
    std::string wrong = packed_chunk(header, "0123456789");
    wrong.back() = 'x';
    std::string some, many;
    for (int count = 0; count < 100; ++count) some += wrong;
    for (int count = 0; count < 10'000; ++count) many += wrong;
    EXPECT_EQ(read_trace(with_first(some)).blocks, 1u);
    EXPECT_EQ(read_trace(with_first(many)).blocks, 0u);
    EXPECT_NE(read_trace(with_first(many)).damage, "");
}

TEST(trace_limits, thousands_of_threads_wait_for_each_other) {
    constexpr std::uint32_t threads = 4000, frees = 20;
    std::vector<raw_chunk> chunks;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        raw_chunk each(thread, 0, 0, 1000);
        for (std::uint64_t block = 0; block < frees; ++block)
            each.free_other((thread + 1) % threads, block).allocate(by_malloc, 1);
        chunks.push_back(each);
    }
    const trace read = read_trace(raw_trace(chunks));
    EXPECT_NE(read.damage, "");
    EXPECT_EQ(read.blocks, threads * frees);
    EXPECT_EQ(broken_promise(read), "");
}

TEST(trace_limits, events_fit_into_memory) {
    const auto bytes =
        static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    EXPECT_LT(tenure::lab::trace_limits{}.events * sizeof(tenure::lab::trace_event), bytes);
    EXPECT_GT(tenure::lab::trace_limits{}.events, 1'000'000u);
}

TEST(trace_limits, a_chunk_of_each_thread_fits_into_memory) {
    constexpr std::uint32_t threads = 50;
    constexpr std::uint64_t payload_bytes = 1 << 20;
    std::vector<raw_chunk> chunks;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
        chunks.push_back(raw_chunk(thread, 0, 0, 1000).plain(std::string(payload_bytes, '\0')));
    const std::string file = tenure::lab::pack_trace(raw_trace(chunks)).bytes;
    EXPECT_LT(file.size(), 200'000u);
    const trace some = read_trace(file, {1000, 10 * payload_bytes});
    EXPECT_NE(some.damage.find("memory"), std::string::npos) << some.damage;
    EXPECT_EQ(some.events.size(), 1000u);
    EXPECT_EQ(broken_promise(some), "");
}

TEST(trace_limits, what_could_not_grow_is_said) {
    std::string file = one_event();
    format::file_header header{};
    std::memcpy(&header, file.data(), sizeof header);
    header.refusal = 28;
    std::memcpy(file.data(), &header, sizeof header);
    EXPECT_NE(read_trace(file).damage.find("mappings at the end are missing"), std::string::npos);
    EXPECT_NE(read_trace(tenure::lab::pack_trace(file).bytes).damage.find("mappings at the end"), std::string::npos);
    header.refusal = 0;
    header.last_error = 24; // and then the recording went on
    std::memcpy(file.data(), &header, sizeof header);
    EXPECT_EQ(read_trace(file).damage, "");
    header.lost_events = 5;
    std::memcpy(file.data(), &header, sizeof header);
    EXPECT_EQ(read_trace(file).damage.find("5 events are missing"), 0u);
}

TEST(trace_limits, a_long_name_of_a_mark_is_cut_and_can_be_written) {
    raw_chunk chunk(0, 0, 0, 1000);
    const trace read = read_trace(raw_trace({chunk.mark(std::string(900'000, 'm')).allocate(by_malloc, 1)}));
    ASSERT_EQ(read.marks.size(), 1u);
    EXPECT_EQ(read.marks[0].size(), 4096u);
    const trace again = read_trace(tenure::lab::write_trace(read));
    EXPECT_EQ(again.damage, "");
    EXPECT_EQ(again.marks, read.marks);
}

TEST(trace_limits, names_of_marks_fit_into_their_limit) {
    constexpr std::size_t marks = 3000, name_bytes = 300;
    raw_chunk chunk(0, 0, 0, 1000);
    for (std::size_t each = 0; each < marks; ++each)
        chunk.mark(std::to_string(each) + std::string(name_bytes, 'm')).allocate(by_malloc, 1);
    chunk.mark("0" + std::string(name_bytes, 'm'));
    tenure::lab::trace_limits limits;
    limits.mark_bytes = 100'000;
    const trace read = read_trace(raw_trace({chunk}), limits);
    EXPECT_EQ(read.damage, "The file has more names of marks than are read: later ones were left out.");
    ASSERT_GT(read.marks.size(), 50u);
    EXPECT_LT(read.marks.size() * name_bytes, limits.mark_bytes);
    EXPECT_EQ(read.marks.back(), "(name left out)");
    EXPECT_EQ(read.events.size(), 2 * marks + 1) << "phases begin there all the same";
    EXPECT_EQ(read.events[2 * (marks - 1)].block, read.marks.size() - 1);
    EXPECT_EQ(read.events.back().block, 0u) << "a name that was read is known";
    EXPECT_EQ(broken_promise(read), "");
    EXPECT_EQ(read_trace(raw_trace({chunk})).marks.size(), marks);
}

TEST(trace_limits, the_index_leads_to_every_chunk_by_time) {
    const std::string file = tenure::lab::pack_trace(raw_trace({
                                                         raw_chunk(0, 0, 0, 9000).allocate(by_malloc, 1),
                                                         raw_chunk(1, 0, 0, 5000).allocate(by_malloc, 2),
                                                         raw_chunk(0, 1, 1, 9500).allocate(by_malloc, 3),
                                                     }))
                                 .bytes;
    format::file_header header{};
    format::chunk_header index{};
    std::memcpy(&header, file.data(), sizeof header);
    ASSERT_LT(header.index_offset + sizeof index, file.size());
    std::memcpy(&index, file.data() + header.index_offset, sizeof index);
    EXPECT_EQ(index.kind, format::chunk_kind::index);
    EXPECT_EQ(header.index_offset + index.bytes, file.size());
    std::string buffer, why;
    std::string_view payload;
    ASSERT_TRUE(tenure::lab::payload_of(
        {index, std::string_view(file).substr(header.index_offset + sizeof index, index.stored)}, buffer, payload,
        why));
    ASSERT_EQ(payload.size(), 3 * sizeof(format::index_entry));
    std::uint64_t last = 0;
    for (std::size_t each = 0; each < 3; ++each) {
        format::index_entry entry{};
        format::chunk_header chunk{};
        std::memcpy(&entry, payload.data() + each * sizeof entry, sizeof entry);
        std::memcpy(&chunk, file.data() + entry.offset, sizeof chunk);
        EXPECT_EQ(chunk.magic, format::chunk_magic);
        EXPECT_EQ(chunk.ticks, entry.ticks);
        EXPECT_EQ(chunk.thread, entry.thread);
        EXPECT_EQ(chunk.sequence, entry.sequence);
        EXPECT_GE(entry.ticks, last);
        last = entry.ticks;
    }
}

TEST(trace_limits, both_codecs_give_back_what_they_took) {
    std::string text;
    for (int each = 0; each < 20'000; ++each) text += std::to_string(each % 700);
    for (const auto codec : {format::codec::deflate, format::codec::zstd}) {
        if (codec == format::codec::zstd && !tenure::lab::has_zstd()) continue;
        std::string stored, plain;
        ASSERT_EQ(tenure::lab::compress(text, codec, stored), codec);
        EXPECT_LT(stored.size(), text.size() / 4);
        ASSERT_TRUE(tenure::lab::decompress(stored, codec, text.size(), plain));
        EXPECT_EQ(plain, text);
        stored[stored.size() / 2] ^= 1;
        EXPECT_FALSE(tenure::lab::decompress(stored, codec, text.size(), plain) && plain == text);
        EXPECT_EQ(tenure::lab::compress("ab", codec, stored), format::codec::plain);
    }
}

TEST(trace_limits, a_sink_that_is_full_ends_the_packing) {
    std::size_t calls = 0;
    const auto outcome = tenure::lab::pack_trace(one_event(), [&](std::uint64_t, std::string_view) {
        ++calls;
        return false;
    });
    EXPECT_TRUE(outcome.ok());
    EXPECT_FALSE(outcome.is_written);
    EXPECT_EQ(calls, 1u);
}

}
