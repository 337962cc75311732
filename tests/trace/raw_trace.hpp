// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes raw files of traces, for tests of their readers. It shares nothing with the recorder but the format's
/// numbers.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "observe/trace/trace_format.hpp"

class raw_chunk {
public:
    raw_chunk(std::uint32_t thread, std::uint32_t sequence, std::uint64_t number, std::uint64_t ticks) {
        namespace format = tenure::lab::trace_format;
        header_.magic = format::chunk_magic;
        header_.kind = format::chunk_kind::events;
        header_.thread = thread;
        header_.sequence = sequence;
        header_.number = next_ = number;
        header_.ticks = ticks;
    }
    /// A whole text, or one of its parts.
    static raw_chunk text(tenure::lab::trace_format::chunk_kind kind, std::uint32_t sequence, std::string_view text,
                          std::uint64_t part = 0, bool is_last = true) {
        raw_chunk made(0, sequence, part, 0);
        made.header_.kind = kind;
        if (is_last) made.header_.flags = tenure::lab::trace_format::is_last_part;
        made.payload_ = text;
        return made;
    }

    // Each returns the chunk, so that events can follow one another.
    raw_chunk& allocate(int kind, std::uint64_t bytes) { return value(kind, bytes), ++next_, *this; }
    raw_chunk& aligned(std::uint64_t bytes, std::uint8_t log2, bool is_new) {
        value(3, bytes);
        payload_ += static_cast<char>(log2 | (is_new ? 128 : 0));
        ++next_;
        return *this;
    }
    raw_chunk& free_own(std::uint64_t block) { return value(4, next_ - 1 - block), *this; }
    raw_chunk& free_other(std::uint32_t thread, std::uint64_t block) { return value(5, thread), other(block), *this; }
    raw_chunk& resize(std::uint64_t bytes, std::uint32_t thread, std::uint64_t block) {
        value(6, bytes);
        if (thread == header_.thread) {
            number((next_ - 1 - block) * 2 + 1);
        } else {
            number(std::uint64_t{thread} * 2);
            other(block);
        }
        ++next_;
        return *this;
    }
    raw_chunk& time(std::uint64_t units) { return value(7, 1), number(units), *this; }
    raw_chunk& unknown_free() { return value(7, 2), *this; }
    raw_chunk& stack(std::uint32_t id, const std::vector<std::uint64_t>& frames) {
        value(7, 3);
        number(id);
        number(frames.size());
        std::uint64_t before = 0;
        for (const std::uint64_t each : frames) {
            fold(each - before);
            before = each;
        }
        return *this;
    }
    raw_chunk& frame() { return value(7, 4), *this; }
    raw_chunk& mark(std::string_view name) { return value(7, 5), number(name.size()), payload_ += name, *this; }
    raw_chunk& number(std::uint64_t value) {
        while (value > 127) {
            payload_ += static_cast<char>(value % 128 + 128);
            value /= 128;
        }
        payload_ += static_cast<char>(value);
        return *this;
    }
    /// Any bytes, as events.
    raw_chunk& plain(std::string_view bytes) { return payload_ += bytes, *this; }
    [[nodiscard]] std::uint64_t next() const { return next_; }

    [[nodiscard]] std::string bytes() const {
        constexpr std::size_t page = 4096;
        auto header = header_;
        const std::size_t length = (sizeof header + payload_.size() + page - 1) / page * page;
        header.bytes = static_cast<std::uint32_t>(length);
        header.used = static_cast<std::uint32_t>(payload_.size());
        std::string all(length, '\0');
        std::memcpy(all.data(), &header, sizeof header);
        std::memcpy(all.data() + sizeof header, payload_.data(), payload_.size());
        return all;
    }

private:
    void value(int kind, std::uint64_t value) {
        const auto first = [&](unsigned payload) {
            payload_ += static_cast<char>(payload * 8 + static_cast<unsigned>(kind));
        };
        const auto rest = [&](std::uint64_t what, int bytes) {
            for (int index = 0; index < bytes; ++index) payload_ += static_cast<char>(what >> 8 * index & 255);
        };
        if (value < 28) return first(static_cast<unsigned>(value));
        if (value < 284) return first(28), rest(value - 28, 1);
        if (value < 65536) return first(29), rest(value, 2);
        if (value <= UINT32_MAX) return first(30), rest(value, 4);
        first(31), rest(value, 8);
    }
    void fold(std::uint64_t difference) {
        const auto value = static_cast<std::int64_t>(difference);
        number(value < 0 ? ~difference * 2 + 1 : difference * 2);
    }
    void other(std::uint64_t block) {
        fold(block - other_);
        other_ = block;
    }

    tenure::lab::trace_format::chunk_header header_{};
    std::string payload_;
    std::uint64_t next_ = 0, other_ = 0;
};

/// One tick is a nanosecond, and time is counted in ticks.
inline std::string raw_trace(const std::vector<raw_chunk>& chunks, std::uint32_t stack_frames = 0,
                             std::uint32_t free_stacks = 0) {
    namespace format = tenure::lab::trace_format;
    format::file_header header{};
    std::memcpy(header.magic, format::magic, sizeof header.magic);
    header.version = format::version;
    header.header_bytes = format::page_bytes;
    header.process = 77;
    header.stack_frames = stack_frames;
    header.free_stacks = free_stacks;
    header.first_ticks = header.first_ns = 1000;
    header.last_ticks = header.last_ns = 1'000'000;
    std::string all(format::page_bytes, '\0');
    for (const raw_chunk& each : chunks) all += each.bytes();
    header.file_bytes = all.size();
    std::memcpy(all.data(), &header, sizeof header);
    return all;
}
