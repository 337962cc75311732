// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/saved_profile.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <type_traits>

#include <fmt/format.h>

#include "report/letters.hpp"
#include "report/read_file.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;

constexpr std::uint64_t max_frames_of_stack = 4096;

/// The sections of a file, and how much of it has been read.
class section_reader {
public:
    explicit section_reader(std::string_view bytes) : bytes_(bytes) {}

    [[nodiscard]] std::size_t position() const { return position_; }
    [[nodiscard]] std::string_view bytes() const { return bytes_; }
    void skip_to(std::size_t position) { position_ = position; }

    /// The next section and its payload. Returns   false when it does not fit into the file.
    [[nodiscard]] bool next(format::section_header& header, std::string_view& payload) {
        if (bytes_.size() - position_ < sizeof header) return false;
        std::memcpy(&header, bytes_.data() + position_, sizeof header);
        const std::size_t at = position_ + sizeof header;
        const std::uint64_t room = bytes_.size() - at;
        if (header.entry_bytes == 0 || header.count > room / header.entry_bytes) return false;
        const std::uint64_t length = header.count * header.entry_bytes;
        payload = bytes_.substr(at, length);
        position_ = std::min<std::size_t>(at + (length + 7) / 8 * 8, bytes_.size());
        return true;
    }

private:
    std::string_view bytes_;
    std::size_t position_ = 0;
};

/// Appends copies of entries, which may be longer than those of this version.
template<class T>
[[nodiscard]] bool add_entries(const format::section_header& header, std::string_view payload, std::vector<T>& to) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (header.entry_bytes < sizeof(T)) return false;
    const std::size_t before = to.size();
    to.resize(before + header.count);
    for (std::size_t index = 0; index < header.count; ++index)
        std::memcpy(&to[before + index], payload.data() + index * header.entry_bytes, sizeof(T));
    return true;
}

/// The same for a section that occurs once.
template<class T>
[[nodiscard]] bool read_entries(const format::section_header& header, std::string_view payload, std::vector<T>& to) {
    to.clear();
    return add_entries(header, payload, to);
}

[[nodiscard]] std::uint64_t checksum_of(std::string_view bytes) {
    format::checksum sum;
    std::uint64_t word = 0;
    for (std::size_t at = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
        std::memcpy(&word, bytes.data() + at, sizeof word);
        sum.add(&word, 1);
    }
    return sum.value();
}

/// Whether an estimate can be one. Rounding may leave a little less than zero.
[[nodiscard]] bool is_sound(const format::estimate& each) {
    constexpr double least = -1e3, most = 1e24;
    return each.blocks > least && each.blocks < most && each.bytes > least && each.bytes < most &&
           each.variance > least && each.variance < most * most;
}

template<class Number>
[[nodiscard]] bool read_number(std::string_view& text, Number& to, int base, char behind) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to, base);
    const auto length = static_cast<std::size_t>(end - text.data());
    if (error != std::errc{} || length == text.size() || *end != behind) return false;
    text.remove_prefix(length + 1);
    return true;
}

/// A line of /proc/PID/maps: "begin-end rwxp offset device inode   path".
[[nodiscard]] bool read_mapping(std::string_view line, profile_mapping& to) {
    if (!read_number(line, to.begin, 16, '-') || !read_number(line, to.end, 16, ' ')) return false;
    if (line.size() < 5 || to.end < to.begin) return false;
    to.is_code = line[2] == 'x';
    line.remove_prefix(5);
    if (!read_number(line, to.file_offset, 16, ' ')) return false;
    for (int field = 0; field < 2; ++field) { // device and inode
        const std::size_t space = line.find(' ');
        line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    }
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string_view::npos) to.path = line.substr(begin);
    return true;
}

/// The lines of /proc/PID/smaps: for each mapping a line as in maps, then "Rss:  12 kB" among others.
void read_memory_line(std::string_view line, std::vector<resident_mapping>& to) {
    constexpr std::string_view resident = "Rss:";
    constexpr std::uint64_t most_kib = UINT64_MAX >> 20;
    if (profile_mapping mapping; read_mapping(line, mapping)) {
        to.push_back({mapping.begin, mapping.end, 0, printable(mapping.path)});
    } else if (line.starts_with(resident) && !to.empty()) {
        line.remove_prefix(std::min(line.find_first_not_of(' ', resident.size()), line.size()));
        std::uint64_t kib = 0;
        if (read_number(line, kib, 10, ' ') && kib < most_kib) to.back().resident_bytes = kib * 1024;
    }
}

template<class Visit>
void for_each_part(std::string_view text, char separator, Visit&& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// Lines of the section of builds: "ADDRESS ID".
void read_builds(std::string_view text, saved_profile& to) {
    std::map<std::uint64_t, std::string> builds;
    for_each_part(text, '\n', [&](std::string_view line) {
        std::uint64_t begin = 0;
        const bool is_valid =
            read_number(line, begin, 16, ' ') && line.find_first_not_of("0123456789abcdef") == std::string_view::npos;
        if (is_valid) builds[begin] = line;
    });
    std::map<std::string, std::string> latest; // of each file: its other mappings follow the one with the ID
    for (profile_mapping& each : to.mappings) {
        if (!each.path.starts_with('/')) continue;
        const auto found = builds.find(each.begin);
        if (found != builds.end()) latest[each.path] = found->second;
        const auto known = latest.find(each.path);
        if (known != latest.end()) each.build_id = known->second;
    }
}

void read_texts(const std::map<format::section, std::string>& texts, saved_profile& to) {
    const auto text_of = [&](format::section kind) {
        const auto found = texts.find(kind);
        return found == texts.end() ? std::string_view{} : std::string_view{found->second};
    };
    for_each_part(text_of(format::section::mappings), '\n', [&](std::string_view line) {
        profile_mapping mapping;
        if (read_mapping(line, mapping)) to.mappings.push_back(std::move(mapping));
    });
    std::stable_sort(to.mappings.begin(), to.mappings.end(),
                     [](const profile_mapping& a, const profile_mapping& b) { return a.begin < b.begin; });
    for_each_part(text_of(format::section::memory), '\n',
                  [&](std::string_view line) { read_memory_line(line, to.memory); });
    std::stable_sort(to.memory.begin(), to.memory.end(),
                     [](const resident_mapping& a, const resident_mapping& b) { return a.begin < b.begin; });
    read_builds(text_of(format::section::builds), to);
    to.malloc_file = printable(text_of(format::section::malloc_file));
    for_each_part(text_of(format::section::tags), '\n', [&](std::string_view line) {
        std::uint32_t number = 0;
        if (read_number(line, number, 10, ' ')) to.tags[number] = printable(line);
    });
    for_each_part(text_of(format::section::arguments), '\0',
                  [&](std::string_view each) { to.arguments.push_back(printable(each)); });
}

/// Whether runs of pages, in the order of their addresses, can be those of a heap.
[[nodiscard]] bool are_sound(const std::vector<format::page_run>& runs) {
    constexpr std::uint64_t most_pages = std::uint64_t{1} << 40;
    std::uint64_t least = 0, pages = 0;
    for (const format::page_run& each : runs) {
        const std::uint64_t bytes = std::uint64_t{each.pages} * format::page_bytes;
        const bool is_use = each.use >= format::page_use::records && each.use <= format::page_use::slack;
        if (bytes == 0 || each.address < least || each.address > UINT64_MAX - bytes || !is_use ||
            each.address % format::page_bytes != 0 || each.live_bytes > format::page_bytes ||
            (each.live_bytes == 0) != (each.blocks == 0) ||
            (each.use == format::page_use::large_block && each.live_bytes == 0) || (pages += each.pages) > most_pages)
            return false;
        least = each.address + bytes;
    }
    return true;
}

/// Returns   what is wrong with the numbers in the sections; empty when nothing is.
[[nodiscard]] std::string mistake_in(const saved_profile& read) {
    for (const format::site& each : read.sites) {
        if (each.frame_count > max_frames_of_stack || each.first_frame > read.frames.size() ||
            each.frame_count > read.frames.size() - each.first_frame)
            return "The file is damaged: a call stack lies outside its section.";
        if (!is_sound(each.allocated) || !is_sound(each.live) || !is_sound(each.at_peak))
            return "The file is damaged: an estimate is no number that a profile can have.";
    }
    if (!are_sound(read.pages)) return "The file is damaged: pages of the heap overlap, or cannot be.";
    const bool has_sites = std::all_of(read.live.begin(), read.live.end(),
                                       [&](const format::live_sample& each) { return each.site < read.sites.size(); });
    return has_sites ? "" : "The file is damaged: a live block has no call stack.";
}

}

std::string saved_profile::program() const {
    if (arguments.empty() || arguments.front().empty()) return fmt::format("process {}", header.process);
    return std::filesystem::path(arguments.front()).filename().string();
}

const profile_mapping* saved_profile::mapping_of(std::uint64_t address) const {
    auto after = std::upper_bound(mappings.begin(), mappings.end(), address,
                                  [](std::uint64_t at, const profile_mapping& each) { return at < each.begin; });
    if (after == mappings.begin()) return nullptr;
    --after;
    return address < after->end ? &*after : nullptr;
}

saved_profile read_profile(std::string_view bytes) {
    saved_profile read;
    format::file_header& header = read.header;
    if (bytes.size() < sizeof header ||
        !std::equal(std::begin(format::magic), std::end(format::magic), bytes.begin())) {
        read.error = "This is not a heap profile of Tenure.";
        return read;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.version != format::version) {
        read.error =
            fmt::format("The file has version {} of the format; this command reads version {}. Use the command "
                        "of the release that the program was built with.",
                        header.version, format::version);
        return read;
    }
    if (header.header_bytes < sizeof header || header.header_bytes > bytes.size() || header.header_bytes % 8 != 0 ||
        header.mean_bytes == 0) {
        read.error = "The file is damaged: its header is not valid.";
        return read;
    }
    section_reader sections(bytes);
    sections.skip_to(header.header_bytes);
    std::map<format::section, std::string> texts;
    for (bool is_over = false; !is_over;) {
        const std::size_t begin = sections.position();
        format::section_header section{};
        std::string_view payload;
        if (!sections.next(section, payload)) {
            read.error = fmt::format("The file ends early or is damaged, at byte {} of {}.", begin, bytes.size());
            return read;
        }
        bool is_read = true;
        switch (section.kind) {
        case format::section::sites: is_read = read_entries(section, payload, read.sites); break;
        case format::section::frames: is_read = read_entries(section, payload, read.frames); break;
        case format::section::live: is_read = read_entries(section, payload, read.live); break;
        case format::section::classes: is_read = read_entries(section, payload, read.classes); break;
        case format::section::pages:
        case format::section::pages_of_blocks: is_read = add_entries(section, payload, read.pages); break;
        case format::section::cached: is_read = read_entries(section, payload, read.cached); break;
        case format::section::before: is_read = read_entries(section, payload, read.classes_before); break;
        case format::section::end: {
            std::uint64_t written = 0;
            is_read = payload.size() >= sizeof written;
            if (is_read) std::memcpy(&written, payload.data(), sizeof written);
            if (is_read && written != checksum_of(bytes.substr(0, begin))) {
                read.error = "The file is damaged: its checksum does not match.";
                return read;
            }
            is_over = true;
            break;
        }
        default: texts[section.kind].append(payload); // also what this version does not know
        }
        if (!is_read) {
            read.error = fmt::format("The file is damaged: the section at byte {} is too short.", begin);
            return read;
        }
    }
    read_texts(texts, read);
    std::stable_sort(read.pages.begin(), read.pages.end(),
                     [](const format::page_run& a, const format::page_run& b) { return a.address < b.address; });
    read.error = mistake_in(read);
    return read;
}

saved_profile load_profile(const std::string& path) {
    const file_text file = read_file(path, max_profile_bytes);
    saved_profile read;
    if (!file.ok()) {
        read.error = fmt::format("{} {}", path, file.error);
        return read;
    }
    read = read_profile(file.text);
    if (!read.ok()) read.error = fmt::format("{}: {}", path, read.error);
    return read;
}

void add(profile_format::estimate& to, const profile_format::estimate& from) {
    to.samples += from.samples;
    to.blocks += from.blocks;
    to.bytes += from.bytes;
    to.variance += from.variance;
}

double chance_of(std::uint64_t block_bytes, std::uint64_t mean_bytes) {
    return -std::expm1(-static_cast<double>(block_bytes) / static_cast<double>(mean_bytes));
}

}
