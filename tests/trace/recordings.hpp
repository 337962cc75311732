// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Recordings of other tools, as tests write them, and what is read of them.

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "observe/trace/import/trace_import.hpp"
#include "observe/trace/trace_writer.hpp"
#include "trace/trace_order.hpp"

namespace recordings {

inline std::string gzip(std::string_view text) {
    z_stream stream{};
    constexpr int with_gzip_header = 16 + MAX_WBITS, memory_level = 8;
    EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, with_gzip_header, memory_level, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(::deflateBound(&stream, static_cast<uLong>(text.size())) + 32, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    ::deflateEnd(&stream);
    return packed;
}

/// What every trace that is imported promises, before and after it was written.
inline void expect_promises(const tenure::lab::trace& read) {
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(broken_promise(read), "");
    const tenure::lab::trace again = tenure::lab::read_trace(tenure::lab::write_trace(read));
    EXPECT_EQ(again.error, "");
    EXPECT_EQ(again.damage, read.damage);
    EXPECT_EQ(broken_promise(again), "");
    EXPECT_EQ(again.events.size(), read.events.size());
    EXPECT_EQ(again.blocks, read.blocks);
    EXPECT_EQ(again.threads, read.threads);
    EXPECT_EQ(again.arguments, read.arguments);
    EXPECT_EQ(again.mappings.size(), read.mappings.size());
}

inline tenure::lab::trace read_whole(std::string_view file) {
    tenure::lab::trace read = tenure::lab::import_trace(file);
    EXPECT_EQ(read.damage, "");
    expect_promises(read);
    return read;
}

/// Of a recording with damage, which is named by these words.
inline tenure::lab::trace read_damaged(std::string_view file, std::string_view words,
                                       const tenure::lab::import_limits& limits = {}) {
    tenure::lab::trace read = tenure::lab::import_trace(file, tenure::lab::recording_format::by_content, limits);
    EXPECT_NE(read.damage.find(words), std::string::npos) << read.damage << read.error << '\n' << file.substr(0, 500);
    expect_promises(read);
    return read;
}

/// Each event as a short text: a letter for the call, the block, and the bytes.
inline std::vector<std::string> calls_of(const tenure::lab::trace& of) {
    std::vector<std::string> found;
    for (const tenure::lab::trace_event& each : of.events)
        found.push_back(fmt::format("{}{}:{}", "adr"[static_cast<int>(each.call)], each.block, each.bytes));
    return found;
}

}
