// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Builds the bytes of a saved heap profile, for the tests of its readers.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/base/profile_format.hpp>

#include "observe/profile/named_profile.hpp"

namespace tenure::lab::sample {

class profile_bytes {
public:
    profile_bytes() {
        profile_format::file_header header{};
        std::memcpy(header.magic, profile_format::magic, sizeof header.magic);
        header.version = profile_format::version;
        header.header_bytes = sizeof header;
        header.mean_bytes = 1000;
        header.started_ms = 5'000;
        header.saved_ms = 65'000;
        header.peak_ms = 30'000;
        header.process = 4321;
        text.append(reinterpret_cast<const char*>(&header), sizeof header);
    }
    void section(profile_format::section kind, std::uint32_t entry_bytes, std::uint64_t count,
                 std::string_view payload) {
        const profile_format::section_header header{kind, entry_bytes, count};
        text.append(reinterpret_cast<const char*>(&header), sizeof header);
        text += payload;
        text.resize((text.size() + 7) / 8 * 8);
    }
    template<class T>
    void entries(profile_format::section kind, const std::vector<T>& all) {
        section(kind, sizeof(T), all.size(), {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(T)});
    }
    void words(profile_format::section kind, std::string_view payload) { section(kind, 1, payload.size(), payload); }
    /// The bytes with the section that ends them.
    [[nodiscard]] std::string finished() const {
        profile_bytes whole = *this;
        profile_format::checksum sum;
        std::vector<std::uint64_t> each(text.size() / 8);
        std::memcpy(each.data(), text.data(), each.size() * 8);
        sum.add(each.data(), each.size());
        whole.entries(profile_format::section::end, std::vector<std::uint64_t>{sum.value()});
        return whole.text;
    }

    std::string text;
};

inline profile_format::estimate estimate(std::uint64_t samples, double blocks, double bytes, double variance) {
    return {samples, blocks, bytes, variance};
}

/// Two stacks, one of them with a tag and one whose blocks are gone, in a program that has no file.
inline profile_bytes two_stacks() {
    profile_bytes bytes;
    profile_format::site held{}, gone{};
    held.first_frame = 0;
    held.frame_count = 2;
    held.tag = 7;
    held.allocated = estimate(30, 300, 60'000, 4e6);
    held.live = estimate(10, 100, 20'000, 1e6);
    held.at_peak = estimate(12, 120, 24'000, 2e6);
    gone.first_frame = 2;
    gone.frame_count = 1;
    gone.allocated = estimate(50, 500, 100'000, 9e6);
    gone.at_peak = estimate(1, 10, 2'000, 1e5);
    bytes.entries(profile_format::section::sites, std::vector{held, gone});
    bytes.entries(profile_format::section::frames, std::vector<std::uint64_t>{0x1010, 0x2020, 0x3030});
    std::vector<profile_format::live_sample> live;
    for (std::uint64_t each = 0; each < 10; ++each)
        live.push_back({0x10'0000 + each * 256, 200, 208, 60'000 - each * 1000, each % 2 + 1, 0, 7});
    bytes.entries(profile_format::section::live, live);
    bytes.entries(profile_format::section::classes, std::vector<profile_format::size_class>{{208, 101, 21'008}});
    bytes.words(profile_format::section::mappings,
                "00001000-00002000 r-xp 00000000 08:01 12      [anon code]\n00002000-");
    bytes.words(profile_format::section::mappings, "00004000 r--p 00001000 08:01 12\n");
    bytes.words(profile_format::section::arguments, std::string_view{"/bin/server\0--port\00080\0", 22});
    bytes.words(profile_format::section::tags, "7 sessions\n");
    return bytes;
}

inline named_profile named(const profile_bytes& bytes) {
    static symbols names;
    return name_profile(read_profile(bytes.finished()), names);
}

}
