// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/trace_packer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "observe/trace/compression/compression.hpp"
#include "observe/trace/trace_chunks.hpp"

namespace tenure::lab {

namespace format = trace_format;

namespace {

template<class T>
void append(std::string& to, const T& value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

class packer {
public:
    explicit packer(std::string& to) : to_(to) {}

    void add(format::chunk_header header, std::string_view payload) {
        if (header.kind != format::chunk_kind::index)
            index_.push_back({to_.size(), header.ticks, header.thread, header.sequence});
        header.magic = format::chunk_magic;
        header.stored_as = compress(payload, best_codec(), stored_);
        header.flags = format::has_checksum;
        header.used = static_cast<std::uint32_t>(payload.size());
        header.stored = static_cast<std::uint32_t>(stored_.size());
        header.bytes = static_cast<std::uint32_t>(sizeof header + stored_.size());
        header.checksum = checksum_of(header, stored_);
        append(to_, header);
        to_ += stored_;
    }

    void add_index() {
        std::stable_sort(index_.begin(), index_.end(),
                         [](const format::index_entry& a, const format::index_entry& b) { return a.ticks < b.ticks; });
        // An index that is larger than a payload may be is cut: what it lacks is found by walking through the file.
        const std::size_t count = std::min(index_.size(), max_trace_payload / sizeof(format::index_entry));
        std::string payload(reinterpret_cast<const char*>(index_.data()), count * sizeof(format::index_entry));
        format::chunk_header header{};
        header.kind = format::chunk_kind::index;
        const std::uint64_t offset = to_.size();
        add(header, payload);
        std::memcpy(to_.data() + offsetof(format::file_header, index_offset), &offset, sizeof offset);
    }

private:
    std::string& to_;
    std::string stored_;
    std::vector<format::index_entry> index_;
};

}

packed_trace pack_trace(std::string_view file) {
    packed_trace packed;
    trace_chunks found = find_chunks(file);
    packed.error = found.error;
    if (!packed.ok()) return packed;
    format::file_header header = found.header;
    header.is = format::form::packed;
    header.header_bytes = sizeof header;
    append(packed.bytes, header);
    packer to(packed.bytes);
    std::string buffer, why;
    std::string_view payload;
    for (const trace_chunk& each : found.all) {
        if (payload_of(each, buffer, payload, why)) {
            to.add(each.header, payload);
        } else {
            found.note_damage(why);
        }
    }
    packed.damage = found.damage;
    if (packed.damage.empty()) packed.damage = lost_events_of(header);
    if (!found.damage.empty()) {
        format::chunk_header about{};
        about.kind = format::chunk_kind::damage;
        to.add(about, found.damage);
    }
    to.add_index();
    return packed;
}

}
