// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The texts of a trace: mappings, build IDs and the command line, which are written in parts and several times.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observe/trace/trace_packer.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/trace/trace_writer.hpp"
#include "trace/raw_trace.hpp"

namespace {

using tenure::lab::read_trace;
using tenure::lab::trace;
namespace format = tenure::lab::trace_format;

constexpr auto mappings_kind = format::chunk_kind::mappings, builds_kind = format::chunk_kind::builds,
               arguments_kind = format::chunk_kind::arguments;

/// Of the raw file, and the same of the packed one.
trace read_both(const std::vector<raw_chunk>& chunks) {
    const std::string raw = raw_trace(chunks);
    trace read = read_trace(raw);
    const trace packed = read_trace(tenure::lab::pack_trace(raw).bytes);
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(packed.mappings.size(), read.mappings.size());
    for (std::size_t index = 0; index < packed.mappings.size(); ++index) {
        EXPECT_EQ(packed.mappings[index].path, read.mappings[index].path);
        EXPECT_EQ(packed.mappings[index].build_id, read.mappings[index].build_id);
    }
    EXPECT_EQ(packed.arguments, read.arguments);
    return read;
}

std::vector<std::string> paths_of(const trace& of) {
    std::vector<std::string> paths;
    for (const auto& each : of.mappings) paths.push_back(each.path);
    return paths;
}

TEST(trace_texts, a_text_is_joined_by_the_numbers_of_its_parts) {
    const trace read = read_both({
        raw_chunk::text(mappings_kind, 2,
                        "00000 r-xp 00100000 08:01 5         /bin/a b\n700000-800000 rw-p 0 00:00 0 \n", 1),
        raw_chunk::text(mappings_kind, 2, "00400000-00500000 r--p 00000000 08:01 5         /bin/a b\n00500000-006", 0,
                        false),
        raw_chunk::text(builds_kind, 2, "0000000000400000 abcdef01\n"),
        raw_chunk::text(arguments_kind, 1, "y", 1, false),
        raw_chunk::text(arguments_kind, 1, std::string_view("\0", 1), 2),
        raw_chunk::text(arguments_kind, 1, std::string_view("a\0-x ", 5), 0, false),
    });
    ASSERT_EQ(read.mappings.size(), 2u);
    EXPECT_EQ(read.mappings[1].begin, 0x50'0000u);
    EXPECT_EQ(read.mappings[1].file_offset, 0x10'0000u);
    EXPECT_EQ(read.mappings[1].path, "/bin/a b");
    EXPECT_EQ(read.mappings[1].build_id, "abcdef01");
    EXPECT_EQ(read.arguments, (std::vector<std::string>{"a", "-x y"}));
}

TEST(trace_texts, the_last_whole_text_counts) {
    const std::string old = "1000-2000 r-xp 00000000 08:01 5 /old\n", half = "3000-4000 r-xp 00000000 08:01 5 /ne";
    EXPECT_EQ(paths_of(read_both(
                  {raw_chunk::text(mappings_kind, 1, old), raw_chunk::text(mappings_kind, 2, half, 0, false)})),
              std::vector<std::string>{"/old"});
    EXPECT_EQ(paths_of(read_both({raw_chunk::text(mappings_kind, 1, old), raw_chunk::text(mappings_kind, 2, half, 1)})),
              std::vector<std::string>{"/old"})
        << "its first part is missing";
    EXPECT_EQ(paths_of(read_both({raw_chunk::text(mappings_kind, 2, half, 0, false)})), std::vector<std::string>{"/ne"})
        << "better than none";
}

TEST(trace_texts, files_that_were_unloaded_keep_their_names_where_nothing_came_after_them) {
    const trace read = read_both({
        raw_chunk::text(mappings_kind, 1,
                        "1000-3000 r-xp 00000000 08:01 5 /plug-in\n"
                        "5000-6000 r-xp 00000000 08:01 6 /other\n"
                        "8000-9000 rw-p 00000000 00:00 0 [heap]\n"),
        raw_chunk::text(builds_kind, 1, "0000000000001000 0a\n0000000000005000 0b\n"),
        raw_chunk::text(mappings_kind, 2, "5800-7000 r-xp 00000000 08:01 7 /later\n"),
        raw_chunk::text(builds_kind, 2, "0000000000005800 0c\n"),
    });
    EXPECT_EQ(paths_of(read), (std::vector<std::string>{"/plug-in", "/later"}));
    EXPECT_EQ(read.mappings[0].build_id, "0a");
    EXPECT_EQ(read.mappings[1].build_id, "0c");
}

TEST(trace_texts, long_texts_are_written_in_parts_and_read_again) {
    trace made;
    for (std::uint64_t each = 0; each < 3000; ++each)
        made.mappings.push_back({each * 0x1000, each * 0x1000 + 0x800, 0, "/library/" + std::to_string(each), {}});
    const trace read = read_trace(tenure::lab::write_trace(made));
    EXPECT_EQ(paths_of(read), paths_of(made));
}

TEST(trace_texts, a_line_of_the_mappings_may_end_anywhere) {
    const std::string line = "00400000-00500000 r-xp 00001000 08:01 5         /bin/a\n";
    for (std::size_t length = 0; length <= line.size(); ++length) {
        const trace read = read_trace(raw_trace({raw_chunk::text(mappings_kind, 1, line.substr(0, length))}));
        EXPECT_TRUE(read.ok()) << length;
        EXPECT_EQ(read.mappings.size(), line.substr(0, length).find('/') == std::string::npos ? 0u : 1u) << length;
    }
}

}
