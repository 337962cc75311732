// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads a saved heap profile, section by section, and checks that it is whole.

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/profile_format.hpp>

namespace support {

struct heap_profile_file {
    tenure::profile_format::file_header header{};
    std::vector<tenure::profile_format::site> sites;
    std::vector<std::uint64_t> frames;
    std::vector<tenure::profile_format::live_sample> live;
    std::vector<tenure::profile_format::size_class> classes, classes_before;
    std::vector<tenure::profile_format::page_run> pages;
    std::vector<tenure::profile_format::cached_blocks> cached;
    std::map<tenure::profile_format::section, std::string> texts;
    bool is_whole = false;

    [[nodiscard]] tenure::profile_format::estimate
    sum(tenure::profile_format::estimate tenure::profile_format::site::*of, std::uint32_t tag) const {
        tenure::profile_format::estimate all{};
        for (const auto& site : sites) {
            if (site.tag != tag) continue;
            all.samples += (site.*of).samples;
            all.blocks += (site.*of).blocks;
            all.bytes += (site.*of).bytes;
            all.variance += (site.*of).variance;
        }
        return all;
    }
    [[nodiscard]] tenure::profile_format::estimate live_sum(std::uint32_t tag = 0) const {
        return sum(&tenure::profile_format::site::live, tag);
    }
    [[nodiscard]] tenure::profile_format::estimate allocated_sum(std::uint32_t tag = 0) const {
        return sum(&tenure::profile_format::site::allocated, tag);
    }
};

template<class T>
void read_entries(std::vector<T>& to, const std::string& from, std::size_t at,
                  const tenure::profile_format::section_header& section) {
    ASSERT_EQ(section.entry_bytes, sizeof(T));
    ASSERT_LE(at + section.count * sizeof(T), from.size());
    to.resize(section.count);
    if (!to.empty()) std::memcpy(to.data(), from.data() + at, section.count * sizeof(T));
}

inline void read_heap_profile(const std::string& path, heap_profile_file& to) {
    namespace format = tenure::profile_format;
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << path;
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    ASSERT_GE(whole.size(), sizeof to.header);
    std::memcpy(&to.header, whole.data(), sizeof to.header);
    ASSERT_EQ(std::memcmp(to.header.magic, format::magic, sizeof format::magic), 0);
    ASSERT_EQ(to.header.header_bytes, sizeof to.header);
    std::size_t at = sizeof to.header;
    while (at + sizeof(format::section_header) <= whole.size()) {
        format::section_header section{};
        std::memcpy(&section, whole.data() + at, sizeof section);
        const std::size_t payload = at + sizeof section;
        const std::size_t bytes = section.count * section.entry_bytes;
        ASSERT_LE(payload + bytes, whole.size());
        switch (section.kind) {
        case format::section::sites: read_entries(to.sites, whole, payload, section); break;
        case format::section::frames: read_entries(to.frames, whole, payload, section); break;
        case format::section::live: read_entries(to.live, whole, payload, section); break;
        case format::section::classes: read_entries(to.classes, whole, payload, section); break;
        case format::section::cached: read_entries(to.cached, whole, payload, section); break;
        case format::section::pages: {
            std::vector<format::page_run> some;
            read_entries(some, whole, payload, section);
            to.pages.insert(to.pages.end(), some.begin(), some.end());
            break;
        }
        case format::section::before: read_entries(to.classes_before, whole, payload, section); break;
        case format::section::end: {
            format::checksum sum;
            std::vector<std::uint64_t> words(at / 8);
            std::memcpy(words.data(), whole.data(), at);
            sum.add(words.data(), words.size());
            std::uint64_t written = 0;
            std::memcpy(&written, whole.data() + payload, sizeof written);
            EXPECT_EQ(written, sum.value());
            to.is_whole = payload + bytes == whole.size();
            break;
        }
        default: to.texts[section.kind].append(whole, payload, bytes);
        }
        at = payload + (bytes + 7) / 8 * 8;
    }
    ASSERT_TRUE(to.is_whole) << path;
    for (const auto& site : to.sites) ASSERT_LE(site.first_frame + site.frame_count, to.frames.size());
    for (const auto& each : to.live) ASSERT_LT(each.site, to.sites.size());
}

}
