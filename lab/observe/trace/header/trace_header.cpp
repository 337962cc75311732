// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/header/trace_header.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace tenure::lab {

namespace format = trace_format;

std::string parse_header(std::string_view bytes, format::file_header& header) {
    if (bytes.size() < format::header_bytes_2 ||
        !std::equal(std::begin(format::magic), std::end(format::magic), bytes.begin()))
        return "This is not a trace of tenure record. `tenure trace import` makes one of a recording of heaptrack or "
               "of "
               "Android's malloc debug.";
    std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
    if (header.version < format::oldest_version || header.version > format::version)
        return fmt::format("The file has version {} of the format; this command reads versions {} to {}. Use the "
                           "command of the release that recorded it.",
                           header.version, format::oldest_version, format::version);
    const bool is_old = header.version < format::version;
    if (is_old) header.free_stacks = header.unused = 0; // the first chunk's, or padding
    const std::size_t least_bytes = is_old ? format::header_bytes_2 : sizeof header;
    constexpr std::uint32_t most_shift = 40;
    if (header.header_bytes < least_bytes || bytes.size() < least_bytes ||
        (header.is != format::form::raw && header.is != format::form::packed) || header.tick_shift > most_shift)
        return "The file is damaged: its header is not valid.";
    return {};
}

bool read_header(const std::string& path, format::file_header& to) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(&to), sizeof to);
    return file.gcount() == sizeof to && to.version == format::version &&
           std::equal(std::begin(format::magic), std::end(format::magic), std::begin(to.magic));
}

}
