// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/trace_packer.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "observe/trace/compression/compression.hpp"
#include "observe/trace/trace_chunks.hpp"
#include "report/letters.hpp"

namespace tenure::lab {

namespace format = trace_format;

namespace {

class packer {
public:
    explicit packer(const packed_sink& to) : to_(to) {}

    void add_header(const format::file_header& header) { append(header); }

    void add(format::chunk_header header, std::string_view payload) {
        if (header.kind != format::chunk_kind::index)
            index_.push_back({end_, header.ticks, header.thread, header.sequence});
        header.magic = format::chunk_magic;
        header.stored_as = compress(payload, best_codec(), stored_);
        header.flags = static_cast<std::uint16_t>((header.flags & format::is_last_part) | format::has_checksum);
        header.used = static_cast<std::uint32_t>(payload.size());
        header.stored = static_cast<std::uint32_t>(stored_.size());
        header.bytes = static_cast<std::uint32_t>(sizeof header + stored_.size());
        header.checksum = checksum_of(header, stored_);
        append(header);
        append_text(stored_);
    }

    void add_index() {
        std::stable_sort(index_.begin(), index_.end(),
                         [](const format::index_entry& a, const format::index_entry& b) { return a.ticks < b.ticks; });
        // An index that is larger than a payload may be is cut: what it lacks is found by walking through the file.
        const std::size_t count = std::min(index_.size(), max_trace_payload / sizeof(format::index_entry));
        std::string payload(reinterpret_cast<const char*>(index_.data()), count * sizeof(format::index_entry));
        format::chunk_header header{};
        header.kind = format::chunk_kind::index;
        const std::uint64_t offset = end_;
        add(header, payload);
        is_written_ = is_written_ && to_(offsetof(format::file_header, index_offset), bytes_of(offset));
    }

    /// Whether the sink has taken everything.
    [[nodiscard]] bool is_written() const { return is_written_; }

private:
    template<class T>
    [[nodiscard]] static std::string_view bytes_of(const T& value) {
        return {reinterpret_cast<const char*>(&value), sizeof value};
    }
    template<class T>
    void append(const T& value) {
        append_text(bytes_of(value));
    }
    void append_text(std::string_view text) {
        is_written_ = is_written_ && to_(end_, text);
        end_ += text.size();
    }

    const packed_sink& to_;
    std::uint64_t end_ = 0;
    bool is_written_ = true;
    std::string stored_;
    std::vector<format::index_entry> index_;
};

}

packing_outcome pack_trace(std::string_view file, const packed_sink& sink, std::span<const std::string> accesses) {
    packing_outcome packed;
    trace_chunks found = find_chunks(file);
    packed.error = found.error;
    if (!packed.ok()) return packed;
    format::file_header header = found.header;
    header.version = format::version;
    header.is = format::form::packed;
    header.header_bytes = sizeof header;
    packer to(sink);
    to.add_header(header);
    std::string buffer, why;
    std::string_view payload;
    for (const trace_chunk& each : found.all) {
        if (!to.is_written()) break;
        if (each.header.kind == format::chunk_kind::live_blocks) continue;
        if (payload_of(each, buffer, payload, why)) {
            if (each.header.kind == format::chunk_kind::arguments && packed.program.empty())
                packed.program = printable(payload.substr(0, payload.find('\0')));
            to.add(each.header, payload);
        } else {
            found.note_damage(why);
        }
    }
    for (std::size_t part = 0; part < accesses.size(); ++part) {
        format::chunk_header header_of_part{};
        header_of_part.kind = format::chunk_kind::accesses;
        header_of_part.number = part;
        to.add(header_of_part, accesses[part]);
    }
    packed.damage = found.damage;
    if (packed.damage.empty()) packed.damage = lost_events_of(header);
    if (!found.damage.empty()) {
        format::chunk_header about{};
        about.kind = format::chunk_kind::damage;
        about.flags = format::is_last_part;
        to.add(about, found.damage);
    }
    to.add_index();
    packed.is_written = to.is_written();
    return packed;
}

packed_trace pack_trace(std::string_view file, std::span<const std::string> accesses) {
    packed_trace packed;
    const packed_sink append = [&](std::uint64_t offset, std::string_view bytes) {
        packed.bytes.resize(std::max<std::size_t>(packed.bytes.size(), offset + bytes.size()));
        std::copy(bytes.begin(), bytes.end(), packed.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        return true;
    };
    const packing_outcome outcome = pack_trace(file, append, accesses);
    packed.damage = outcome.damage;
    packed.error = outcome.error;
    return packed;
}

}
