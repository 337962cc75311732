// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The build IDs of mapped files, found in the system's list of mappings.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/heap/detail/profile/mapping_lines.hpp>
#include <tenure/platform/build_id.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Only files with code are looked at, because others may be anywhere, and slow to read. The first mapping of a file
/// comes before its code. It is large: give it static memory.
class build_lines {
public:
    /// Takes a part of the list. Calls `write(line)` for each file that ends in it: "ADDRESS ID\n", in hex digits,
    /// where the address is that of the file's first mapping.
    template<class Write>
    void read(std::string_view part, Write&& write) noexcept {
        lines_.read(part, [&](const mapping_line& line) { read_line(line, write); });
    }

private:
    template<class Write>
    void read_line(const mapping_line& line, Write& write) noexcept {
        if (line.name.empty() || line.name.front() != '/') return;
        std::uint64_t path = 0xCBF2'9CE4'8422'2325; // FNV-1a
        for (const char each : line.name) path = (path ^ static_cast<unsigned char>(each)) * 0x0000'0100'0000'01B3;
        if (line.offset == 0) {
            begin_ = line.begin;
            path_ = path;
            is_read_ = false;
        }
        if (line.rights[2] != 'x' || path != path_ || is_read_) return;
        is_read_ = true;
        write_id(platform::build_id_at(begin_), write);
    }

    template<class Write>
    void write_id(const platform::build_id& id, Write& write) noexcept {
        constexpr char digits[] = "0123456789abcdef";
        if (id.count == 0) return;
        char text[2 * sizeof(std::uintptr_t) + 1 + 2 * platform::build_id::max_bytes + 1];
        char* at = text;
        for (int shift = 8 * static_cast<int>(sizeof begin_) - 4; shift >= 0; shift -= 4)
            *at++ = digits[begin_ >> shift & 15];
        *at++ = ' ';
        for (std::size_t each = 0; each < id.count; ++each) {
            *at++ = digits[id.bytes[each] >> 4];
            *at++ = digits[id.bytes[each] & 15];
        }
        *at++ = '\n';
        write(std::string_view{text, static_cast<std::size_t>(at - text)});
    }

    std::uintptr_t begin_ = 0; ///< of the latest file
    std::uint64_t path_ = 0;   ///< its hash
    bool is_read_ = true;
    mapping_lines lines_;
};

}
