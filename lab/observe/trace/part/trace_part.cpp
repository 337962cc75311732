// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/part/trace_part.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "observe/trace/trace_clock.hpp"
#include "observe/trace/trace_writer.hpp"

namespace tenure::lab {

namespace format = trace_format;

namespace {

/// A chunk of the file, of which the header was read.
struct found_chunk {
    std::uint64_t offset = 0;
    format::chunk_header header{};
};

/// Reads a file piece by piece. It gives up, and returns nothing, where a whole file would be damaged or too large.
class part_reader {
public:
    part_reader(const std::string& path, std::uint64_t from_ns, std::uint64_t to_ns, const trace_limits& limits)
        : file_(path, std::ios::binary), from_ns_(from_ns), to_ns_(to_ns), limits_(limits),
          before_(std::in_place, limits.events * trace_limits::bytes_of_event, limits.stack_bytes) {
        std::error_code error;
        if (std::filesystem::is_regular_file(path, error)) size_ = std::filesystem::file_size(path, error);
        if (error) size_ = 0;
    }

    [[nodiscard]] std::optional<trace> read() {
        if (size_ == 0 || size_ > max_trace_file_bytes || !read_header() || !find_all() || !choose_all()) return {};
        trace merged = merge_trace(chosen_, limits_, &*before_);
        if (!merged.ok()) return {};
        merged.whole_ns = skipped_ns_;
        before_.reset();
        kept_.clear();
        // The times of a damaged file may not be in order.
        for (std::uint64_t index = 0; index < merged.older_blocks; ++index)
            merged.events[index].time_ns = std::min(merged.events[index].time_ns, from_ns_ - 1);
        return cut_trace(std::move(merged), from_ns_, to_ns_);
    }

private:
    [[nodiscard]] bool read_bytes(std::uint64_t offset, std::size_t bytes, char* to) {
        if (offset > size_ || size_ - offset < bytes) return false;
        file_.seekg(static_cast<std::streamoff>(offset));
        file_.read(to, static_cast<std::streamsize>(bytes));
        return static_cast<std::size_t>(file_.gcount()) == bytes;
    }

    [[nodiscard]] bool read_header() {
        std::array<char, sizeof(format::file_header)> bytes{};
        return read_bytes(0, bytes.size(), bytes.data()) &&
               parse_header({bytes.data(), bytes.size()}, chosen_.header).empty();
    }

    /// Reads the header of each chunk.
    [[nodiscard]] bool find_all() {
        const bool is_raw = chosen_.header.is == format::form::raw;
        if (is_raw && chosen_.header.file_bytes > size_) return false;
        trace_clock clock(chosen_.header);
        std::uint64_t at = chosen_.header.header_bytes;
        while (at + sizeof(format::chunk_header) <= size_) {
            found_chunk found{at, {}};
            if (!read_bytes(at, sizeof found.header, reinterpret_cast<char*>(&found.header))) return false;
            constexpr format::chunk_header zeros{};
            const bool is_unused = is_raw && std::memcmp(&found.header, &zeros, sizeof zeros) == 0;
            if (!is_unused && !stored_bytes(found.header, chosen_.header.is)) return false;
            if (found.header.kind == format::chunk_kind::index && !is_unused) break;
            clock.see(found.header);
            if (!is_unused) found_.push_back(found);
            at += is_unused ? format::page_bytes : found.header.bytes;
        }
        // What the chunks say of the clocks, for a part that lacks them.
        chosen_.header.last_ticks = clock.last_ticks();
        chosen_.header.last_ns = clock.last_ns();
        return is_raw || at + sizeof(format::chunk_header) <= size_;
    }

    /// Reads the chunks of the part, and the blocks of those before it.
    [[nodiscard]] bool choose_all() {
        const trace_clock clock(chosen_.header);
        std::map<std::uint32_t, std::vector<const found_chunk*>> threads;
        for (const found_chunk& each : found_) {
            if (each.header.kind == format::chunk_kind::events)
                threads[each.header.thread].push_back(&each);
            else if (!choose_chunk(each))
                return false;
        }
        std::vector<const found_chunk*> before;
        for (auto& [thread, chunks] : threads) {
            std::sort(chunks.begin(), chunks.end(), [](const found_chunk* a, const found_chunk* b) {
                return a->header.sequence < b->header.sequence;
            });
            for (std::size_t i = 0; i < chunks.size(); ++i) {
                if (chunks[i]->header.sequence != i) return false;
                if (const std::uint64_t begin_ns = clock.time_of(chunks[i]->header.ticks); begin_ns >= to_ns_) {
                    skipped_ns_ = std::max(skipped_ns_, begin_ns);
                    continue;
                }
                const bool is_before = i + 1 < chunks.size() && clock.time_of(chunks[i + 1]->header.ticks) < from_ns_;
                if (is_before)
                    before.push_back(chunks[i]);
                else if (!choose_chunk(*chunks[i]))
                    return false;
            }
        }
        // By time, so that most frees come after their allocations.
        std::sort(before.begin(), before.end(), [](const found_chunk* a, const found_chunk* b) {
            return std::pair(a->header.ticks, a->offset) < std::pair(b->header.ticks, b->offset);
        });
        return std::all_of(before.begin(), before.end(), [&](const found_chunk* each) { return read_older(*each); });
    }

    /// Reads a chunk into `to`, and checks it.
    [[nodiscard]] bool read_chunk(const found_chunk& found, std::string& bytes, trace_chunk& to) {
        const auto stored = stored_bytes(found.header, chosen_.header.is);
        if (!stored) return false;
        bytes.resize(*stored);
        if (!read_bytes(found.offset + sizeof found.header, *stored, bytes.data())) return false;
        to = {found.header, bytes};
        const bool has_checksum = (found.header.flags & format::has_checksum) != 0;
        return !has_checksum || found.header.checksum == checksum_of(found.header, bytes);
    }

    /// Reads a chunk of the part.
    [[nodiscard]] bool choose_chunk(const found_chunk& found) {
        kept_.emplace_back();
        chosen_.all.emplace_back();
        return read_chunk(found, kept_.back(), chosen_.all.back());
    }

    /// Reads the blocks of a chunk before the part.
    [[nodiscard]] bool read_older(const found_chunk& found) {
        trace_chunk chunk;
        std::string_view payload;
        std::string why;
        return read_chunk(found, stored_, chunk) && payload_of(chunk, unpacked_, payload, why) &&
               before_->read(chosen_.header, chunk.header, payload);
    }

    std::ifstream file_;
    std::uint64_t size_ = 0;
    std::uint64_t from_ns_, to_ns_;
    std::uint64_t skipped_ns_ = 0; // when the last chunk begins that is after the part
    const trace_limits& limits_;
    std::vector<found_chunk> found_;
    std::deque<std::string> kept_; // what the chosen chunks point into
    trace_chunks chosen_;
    std::optional<older_blocks> before_;
    std::string stored_, unpacked_;
};

}

trace load_part(const std::string& path, std::uint64_t from_ns, std::uint64_t to_ns, const trace_limits& limits) {
    if (std::optional<trace> part = part_reader(path, from_ns, to_ns, limits).read()) return std::move(*part);
    trace whole = load_trace(path, limits);
    return whole.ok() ? cut_trace(std::move(whole), from_ns, to_ns) : whole;
}

}
