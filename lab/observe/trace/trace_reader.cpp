// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/trace_reader.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "observe/trace/access/access_chunks.hpp"
#include "observe/trace/trace_chunks.hpp"
#include "observe/trace/trace_merger.hpp"
#include "report/letters.hpp"
#include "report/read_file.hpp"

namespace tenure::lab {

namespace format = trace_format;

namespace {

/// A text of the file, and how often texts of its kind had been written before it.
struct file_text_of {
    std::uint32_t sequence = 0;
    std::string text;
};

/// The whole texts of a kind, the newest first. If none is whole, the newest, as far as it goes.
[[nodiscard]] std::vector<file_text_of> texts_of(const trace_chunks& file, format::chunk_kind kind) {
    std::map<std::uint32_t, std::map<std::uint64_t, const trace_chunk*>, std::greater<>> all;
    for (const trace_chunk& each : file.all)
        if (each.header.kind == kind) all[each.header.sequence].try_emplace(each.header.number, &each);
    std::vector<file_text_of> whole, newest;
    std::string buffer, why;
    std::string_view payload;
    for (const auto& [sequence, parts] : all) {
        file_text_of found{sequence, {}};
        bool is_whole = (parts.rbegin()->second->header.flags & format::is_last_part) != 0 &&
                        parts.rbegin()->first == parts.size() - 1;
        for (const auto& [number, part] : parts) {
            const bool is_read = payload_of(*part, buffer, payload, why);
            is_whole = is_whole && is_read;
            if (is_read) found.text += payload;
        }
        if (newest.empty()) newest.push_back(found);
        if (is_whole) whole.push_back(std::move(found));
    }
    return whole.empty() ? newest : whole;
}

[[nodiscard]] std::string newest_text(const trace_chunks& file, format::chunk_kind kind) {
    const std::vector<file_text_of> all = texts_of(file, kind);
    return all.empty() ? std::string() : all.front().text;
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

[[nodiscard]] std::vector<trace_mapping> mappings_in(std::string_view text, std::string_view build_lines) {
    std::vector<trace_mapping> found;
    for_each_part(text, '\n', [&](std::string_view line) { read_mapping(line, found); });
    std::stable_sort(found.begin(), found.end(),
                     [](const trace_mapping& a, const trace_mapping& b) { return a.begin < b.begin; });
    std::map<std::uint64_t, std::string> builds;
    for_each_part(build_lines, '\n', [&](std::string_view line) {
        const auto begin = take_hex(line, ' ');
        if (begin && line.find_first_not_of("0123456789abcdef") == std::string_view::npos) builds[*begin] = line;
    });
    std::map<std::string, std::string> latest; // of each file: its other mappings follow the one with the ID
    for (trace_mapping& each : found) {
        if (const auto known = builds.find(each.begin); known != builds.end()) latest[each.path] = known->second;
        if (const auto known = latest.find(each.path); known != latest.end()) each.build_id = known->second;
    }
    return found;
}

/// Of earlier lists only the files count, where nothing was mapped later: plug-ins that were unloaded.
void add_mappings(std::vector<trace_mapping> from, std::map<std::uint64_t, trace_mapping>& to) {
    const bool is_newest = to.empty();
    for (trace_mapping& each : from) {
        if (!is_newest && !each.path.starts_with('/')) continue;
        const auto after = to.lower_bound(each.begin);
        const bool is_free = (after == to.end() || each.end <= after->first) &&
                             (after == to.begin() || std::prev(after)->second.end <= each.begin);
        if (is_free) to.emplace_hint(after, each.begin, std::move(each));
    }
}

/// "FROM TO WHOLE OLDER\n". Returns   nothing if it is not valid.
[[nodiscard]] std::optional<trace_part> part_in(std::string_view text) {
    trace_part made;
    const char *at = text.data(), *const end = at + text.size();
    for (std::uint64_t* const each : {&made.from_ns, &made.to_ns, &made.whole_ns, &made.older_blocks}) {
        const auto [behind, error] = std::from_chars(at, end, *each);
        const char separator = each == &made.older_blocks ? '\n' : ' ';
        if (error != std::errc{} || behind == end || *behind != separator) return {};
        at = behind + 1;
    }
    return at == end && made.from_ns < made.to_ns ? std::optional(made) : std::nullopt;
}

void read_texts(const trace_chunks& file, trace& to) {
    to.part = part_in(newest_text(file, format::chunk_kind::part));
    const std::vector<file_text_of> builds = texts_of(file, format::chunk_kind::builds);
    std::map<std::uint64_t, trace_mapping> mappings;
    for (const file_text_of& each : texts_of(file, format::chunk_kind::mappings)) {
        const auto found = std::find_if(builds.begin(), builds.end(),
                                        [&](const file_text_of& other) { return other.sequence == each.sequence; });
        add_mappings(mappings_in(each.text, found != builds.end() ? found->text : std::string_view{}), mappings);
    }
    for (auto& [begin, mapping] : mappings) to.mappings.push_back(std::move(mapping));
    for_each_part(newest_text(file, format::chunk_kind::arguments), '\0',
                  [&](std::string_view each) { to.arguments.push_back(printable(each)); });
}

}

std::uint64_t memory_of_machine() {
    const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
    const std::uint64_t all = pages * static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L));
    rlimit limit{};
    const bool is_limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? std::min<std::uint64_t>(all, limit.rlim_cur) : all;
}

trace merge_trace(const trace_chunks& file, const trace_limits& limits, older_blocks* older) {
    trace read;
    read.error = file.error;
    if (!read.ok()) return read;
    read.damage = file.damage;
    read.process = file.header.process;
    read.recording = file.header.recording;
    read.started_ms = file.header.started_ms;
    read.stack_frames = file.header.stack_frames;
    read.has_free_stacks = file.header.stack_frames != 0 && file.header.free_stacks != 0;
    read.sample_bytes = file.header.sample_bytes;
    access_chunks accesses(file, limits.events / 4, read.damage);
    trace_merger(file, read, limits, accesses, older).run();
    accesses.put(read);
    read_texts(file, read);
    if (const std::string before = newest_text(file, format::chunk_kind::damage);
        !before.empty() && read.damage.empty())
        read.damage = printable(before);
    if (read.damage.empty()) read.damage = lost_events_of(file.header);
    return read;
}

trace read_trace(std::string_view bytes, const trace_limits& limits) { return merge_trace(find_chunks(bytes), limits); }

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

}
