// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/trace_reader.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "observe/trace/trace_chunks.hpp"
#include "observe/trace/trace_merger.hpp"
#include "report/letters.hpp"
#include "report/read_file.hpp"

namespace tenure::lab {

namespace format = trace_format;

namespace {

/// The text of a kind that was written last.
[[nodiscard]] std::string last_text(const trace_chunks& file, format::chunk_kind kind) {
    std::uint32_t last = 0;
    for (const trace_chunk& each : file.all)
        if (each.header.kind == kind) last = std::max(last, each.header.sequence);
    std::string text, buffer, why;
    std::string_view payload;
    for (const trace_chunk& each : file.all) {
        const bool is_part = each.header.kind == kind && each.header.sequence == last;
        if (is_part && payload_of(each, buffer, payload, why)) text += payload;
    }
    return text;
}

template<class Visit>
void for_each_part(std::string_view text, char separator, Visit&& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// Takes a field of a line, up to a space. Returns   nothing if it is not a number in hex digits.
[[nodiscard]] std::optional<std::uint64_t> take_hex(std::string_view& line, char behind) {
    const std::size_t end = line.find(behind);
    std::uint64_t value = 0;
    const std::string_view field = line.substr(0, end);
    const auto [last, error] = std::from_chars(field.data(), field.data() + field.size(), value, 16);
    if (end == std::string_view::npos || error != std::errc{} || last != field.data() + field.size()) return {};
    line.remove_prefix(end + 1);
    return value;
}

/// A line of /proc/PID/maps: "begin-end rwxp offset device inode   path". Those without a path are left out.
void read_mapping(std::string_view line, std::vector<trace_mapping>& to) {
    const auto begin = take_hex(line, '-');
    const auto end = begin ? take_hex(line, ' ') : std::nullopt;
    if (!end || *end < *begin) return;
    const std::size_t rights = line.find(' ');
    if (rights == std::string_view::npos) return;
    line.remove_prefix(rights + 1);
    const auto offset = take_hex(line, ' ');
    const std::size_t path = std::min(line.find('/'), line.find('['));
    if (offset && path != std::string_view::npos)
        to.push_back({*begin, *end, *offset, printable(line.substr(path)), {}});
}

void read_texts(const trace_chunks& file, trace& to) {
    for_each_part(last_text(file, format::chunk_kind::mappings), '\n',
                  [&](std::string_view line) { read_mapping(line, to.mappings); });
    std::stable_sort(to.mappings.begin(), to.mappings.end(),
                     [](const trace_mapping& a, const trace_mapping& b) { return a.begin < b.begin; });
    std::map<std::uint64_t, std::string> builds;
    for_each_part(last_text(file, format::chunk_kind::builds), '\n', [&](std::string_view line) {
        const auto begin = take_hex(line, ' ');
        if (begin && line.find_first_not_of("0123456789abcdef") == std::string_view::npos) builds[*begin] = line;
    });
    std::map<std::string, std::string> latest; // of each file: its other mappings follow the one with the ID
    for (trace_mapping& each : to.mappings) {
        if (const auto found = builds.find(each.begin); found != builds.end()) latest[each.path] = found->second;
        if (const auto known = latest.find(each.path); known != latest.end()) each.build_id = known->second;
    }
    for_each_part(last_text(file, format::chunk_kind::arguments), '\0',
                  [&](std::string_view each) { to.arguments.push_back(printable(each)); });
}

}

trace read_trace(std::string_view bytes, const trace_limits& limits) {
    trace read;
    trace_chunks file = find_chunks(bytes);
    read.error = file.error;
    if (!read.ok()) return read;
    read.damage = file.damage;
    read.process = file.header.process;
    read.stack_frames = file.header.stack_frames;
    read.sample_bytes = file.header.sample_bytes;
    trace_merger(file, read, limits.events).run();
    read_texts(file, read);
    if (const std::string before = last_text(file, format::chunk_kind::damage); !before.empty() && read.damage.empty())
        read.damage = printable(before);
    if (read.damage.empty()) read.damage = lost_events_of(file.header);
    return read;
}

trace load_trace(const std::string& path, const trace_limits& limits) {
    const file_text file = read_file(path, max_trace_file_bytes);
    trace read;
    if (!file.ok()) {
        read.error = fmt::format("{} {}", path, file.error);
        return read;
    }
    read = read_trace(file.text, limits);
    if (!read.ok()) read.error = fmt::format("{}: {}", path, read.error);
    return read;
}

std::uint32_t process_of_trace(const std::string& path) {
    format::file_header header{};
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    const bool is_trace = file.gcount() == sizeof header &&
                          std::equal(std::begin(format::magic), std::end(format::magic), std::begin(header.magic));
    return is_trace && header.last_ticks == 0 ? header.process : 0;
}

}
