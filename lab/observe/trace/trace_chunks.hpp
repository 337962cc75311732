// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The chunks of a trace's file (trace_format.hpp), found and checked. The file may be damaged, cut off, or made by
/// somebody else.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/trace/header/trace_header.hpp"
#include "observe/trace/trace_format.hpp"

namespace tenure::lab {

struct trace_chunk {
    trace_format::chunk_header header{};
    std::string_view stored; ///< the payload, as it is stored
};

struct trace_chunks {
    trace_format::file_header header{};
    std::vector<trace_chunk> all; ///< in the order of the file
    std::string damage;           ///< what could not be read, in a sentence; empty: all could
    std::string error;            ///< empty when all else is valid; otherwise a sentence, without the file's name

    [[nodiscard]] bool ok() const { return error.empty(); }
    /// Notes damage, unless there is some already.
    void note_damage(std::string sentence) {
        if (damage.empty()) damage = std::move(sentence);
    }
};

/// Bytes of the payload that follow the header of a chunk; nothing if the header is not valid.
[[nodiscard]] std::optional<std::uint32_t> stored_bytes(const trace_format::chunk_header& header,
                                                        trace_format::form form);

constexpr std::uint32_t max_trace_payload = 1 << 20; ///< bytes of a chunk's payload; larger ones are damage

/// `bytes` must stay valid while the chunks are used.
[[nodiscard]] trace_chunks find_chunks(std::string_view bytes);

/// A sentence about what is missing because the file could not grow; empty when nothing is.
[[nodiscard]] std::string lost_events_of(const trace_format::file_header& header);

/// The payload of a chunk. `buffer` is used if it is compressed, and must stay valid while the payload is used.
/// Returns   false if it is damaged, or compressed in a way that this build cannot read: `why` then says so.
[[nodiscard]] bool payload_of(const trace_chunk& chunk, std::string& buffer, std::string_view& payload,
                              std::string& why);

/// The checksum of a chunk.
[[nodiscard]] std::uint32_t checksum_of(trace_format::chunk_header header, std::string_view stored);

}
