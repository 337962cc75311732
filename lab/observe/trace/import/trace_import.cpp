// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/import/trace_import.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "observe/trace/compression/unpacked_text.hpp"
#include "observe/trace/import/android_recording.hpp"
#include "observe/trace/import/heaptrack_recording.hpp"
#include "observe/trace/import/loaded_segments.hpp"
#include "observe/trace/import/recording_lines.hpp"
#include "report/letters.hpp"
#include "report/read_file.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t shown_columns = 60; ///< of a line in a message

template<class Recording>
void read_lines(recording_lines& lines, Recording recording, trace& to) {
    std::string_view line;
    while (to.damage.empty() && lines.next(line)) {
        const bool is_read = recording.take(line);
        if (!to.ok()) {
            trace refused;
            refused.error = std::move(to.error);
            to = std::move(refused);
            return;
        }
        if (const std::string& why = recording.why_full(); !why.empty()) {
            to.damage = fmt::format("{} Line {} and what follows it are missing.", why, lines.number());
        } else if (!is_read) {
            to.damage = fmt::format("Line {} cannot be read: \"{}\". It and what follows it are missing.",
                                    lines.number(), clipped(printable(line), shown_columns));
        }
    }
    if (to.damage.empty()) to.damage = lines.damage();
    recording.finish();
}

[[nodiscard]] recording_format format_of(std::string_view first_line) {
    if (is_heaptrack_line(first_line)) return recording_format::heaptrack;
    return is_android_line(first_line) ? recording_format::android : recording_format::by_content;
}

[[nodiscard]] std::string why_not_unpacked(text_packing packing) {
    if (packing == text_packing::zip) return "This is a zip archive. Unpack it first: unzip -p FILE.zip > FILE.txt";
    return "This is compressed with zstd, which this build cannot read. Decompress it first: zstd -d FILE";
}

}

trace import_trace(std::string_view file, recording_format format, const import_limits& limits) {
    trace read;
    const text_packing packing = packing_of(file);
    std::unique_ptr<unpacked_text> text = unpack(file, packing);
    if (text == nullptr) {
        read.error = why_not_unpacked(packing);
        return read;
    }
    recording_lines lines(std::move(text), limits.text_bytes);
    if (format == recording_format::by_content) {
        std::string_view first;
        if (lines.next(first)) {
            format = format_of(first);
            lines.step_back();
        } else if (packing != text_packing::plain && !lines.damage().empty()) {
            read.error = lines.damage();
            return read;
        }
    }
    if (format == recording_format::heaptrack) {
        read_lines(lines, heaptrack_recording(read, limits), read);
    } else if (format == recording_format::android) {
        read_lines(lines, android_recording(read, limits), read);
    } else {
        read.error = "This is no recording of heaptrack, which begins with a line \"v VERSION\", and none of Android's "
                     "malloc debug, which begins with a line like \"17: malloc 0x5000 48\".";
    }
    return read;
}

trace load_recording(const std::string& path, recording_format format, const import_limits& limits) {
    const file_text file = read_file(path, max_trace_file_bytes);
    trace read;
    if (!file.ok()) {
        read.error = fmt::format("{} {}", path, file.error);
        return read;
    }
    read = import_trace(file.text, format, limits);
    find_file_offsets(read.mappings);
    if (!read.ok()) read.error = fmt::format("{}: {}", path, read.error);
    return read;
}

}
