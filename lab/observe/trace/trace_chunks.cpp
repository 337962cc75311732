// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/trace_chunks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <zlib.h>

#include "observe/trace/compression/compression.hpp"

namespace tenure::lab {

namespace format = trace_format;

namespace {

/// Walks through the file. After damage it goes on at the next place where a chunk begins.
class chunk_finder {
public:
    chunk_finder(std::string_view bytes, trace_chunks& to)
        : bytes_(bytes), to_(to), is_raw_(to.header.is == format::form::raw) {}

    void find_all() {
        std::size_t at = to_.header.header_bytes;
        while (at + sizeof(format::chunk_header) <= bytes_.size() && !has_index_ && wrong_ < max_wrong) {
            const std::size_t step = take(at);
            if (step == 0 && !is_unused(at))
                to_.note_damage(fmt::format("The file is damaged at byte {} of {}.", at, bytes_.size()));
            at = step != 0 ? at + step : next_place(at);
        }
        const bool is_cut = is_raw_ ? to_.header.file_bytes > bytes_.size() : !has_index_;
        if (is_cut) to_.note_damage(fmt::format("The file ends early, at byte {}.", bytes_.size()));
    }

private:
    /// Returns   the distance of the next chunk; zero if there is no valid chunk here.
    [[nodiscard]] std::size_t take(std::size_t at) {
        trace_chunk found;
        format::chunk_header& header = found.header;
        std::memcpy(&header, bytes_.data() + at, sizeof header);
        const std::size_t room = bytes_.size() - at - sizeof header;
        const auto length = stored_bytes(header, to_.header.is);
        if (!length) return 0;
        std::uint32_t stored = *length;
        if (is_raw_) {
            stored = static_cast<std::uint32_t>(std::min<std::size_t>(stored, room));
            header.used = stored;
        } else if (stored > room) {
            return 0;
        }
        found.stored = bytes_.substr(at + sizeof header, stored);
        if (!is_raw_ && header.checksum != checksum_of(header, found.stored)) {
            ++wrong_;
            return 0;
        }
        if (header.kind == format::chunk_kind::index) {
            has_index_ = true;
        } else {
            to_.all.push_back(found);
        }
        return header.bytes;
    }

    /// Whether a page of a raw file has never been written to.
    [[nodiscard]] bool is_unused(std::size_t at) const {
        if (!is_raw_) return false;
        const std::string_view page = bytes_.substr(at, format::page_bytes);
        return page.find_first_not_of('\0') == std::string_view::npos;
    }

    [[nodiscard]] std::size_t next_place(std::size_t at) const {
        if (is_raw_) return at + format::page_bytes;
        constexpr std::string_view magic{"TNCK"};
        return std::min(bytes_.find(magic, at + 1), bytes_.size());
    }

    // Each can cost the checksum of a whole payload, a few bytes after the one before.
    static constexpr std::size_t max_wrong = 2000;

    std::string_view bytes_;
    trace_chunks& to_;
    bool is_raw_;
    std::size_t wrong_ = 0; ///< checksums
    bool has_index_ = false;
};

}

std::uint32_t checksum_of(format::chunk_header header, std::string_view stored) {
    header.checksum = 0;
    uLong sum = ::crc32(0, reinterpret_cast<const Bytef*>(&header), sizeof header);
    sum = ::crc32(sum, reinterpret_cast<const Bytef*>(stored.data()), static_cast<uInt>(stored.size()));
    return static_cast<std::uint32_t>(sum);
}

std::optional<std::uint32_t> stored_bytes(const format::chunk_header& header, format::form form) {
    const bool is_raw = form == format::form::raw, is_plain = header.stored_as == format::codec::plain;
    if (header.magic != format::chunk_magic || header.bytes < sizeof header || header.used > max_trace_payload)
        return {};
    const std::uint32_t stored = is_raw ? header.used : header.stored;
    if (stored > header.bytes - sizeof header) return {};
    if (is_plain ? stored != header.used : stored >= header.used) return {};
    if (is_raw && (header.bytes % format::page_bytes != 0 || !is_plain)) return {};
    const bool has_checksum = (header.flags & format::has_checksum) != 0;
    if (has_checksum == is_raw) return {};
    return stored;
}

trace_chunks find_chunks(std::string_view bytes) {
    trace_chunks found;
    found.error = parse_header(bytes, found.header);
    if (found.ok()) chunk_finder(bytes, found).find_all();
    return found;
}

std::string lost_events_of(const format::file_header& header) {
    const std::uint32_t number = header.refusal != 0 ? header.refusal : header.last_error;
    const std::string why = number == ENOMEM ? "out of memory, or the limit of addresses is too low (ulimit -v)"
                                             : std::strerror(static_cast<int>(number));
    if (header.lost_events != 0)
        return fmt::format("{} events are missing, because the recording could not grow: {}.", header.lost_events, why);
    if (header.refusal == 0) return {};
    return fmt::format("The mappings at the end are missing, because the recording could not grow: {}.", why);
}

bool payload_of(const trace_chunk& chunk, std::string& buffer, std::string_view& payload, std::string& why) {
    const format::codec by = chunk.header.stored_as;
    if (by == format::codec::plain) {
        payload = chunk.stored;
        return true;
    }
    if (by == format::codec::zstd && !has_zstd()) {
        why = "The file is compressed by zstd, which this build of the command cannot read: build it with libzstd.";
        return false;
    }
    if (decompress(chunk.stored, by, chunk.header.used, buffer)) {
        payload = buffer;
        return true;
    }
    why = "The file is damaged: a chunk cannot be decompressed.";
    return false;
}

}
