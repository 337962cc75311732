// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Saved heap profiles: any bytes are either read, with every number inside its bounds, or refused with a reason. What
// is read can be asked who keeps memory.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "observe/pins/pinned_memory.hpp"
#include "observe/profile/calibration.hpp"
#include "observe/profile/named_profile.hpp"
#include "observe/profile/saved_profile.hpp"
#include "operations.hpp"

namespace {

namespace format = tenure::profile_format;

/// Gives the bytes a valid header and a valid end, so that most of the inputs come past them.
std::string wrapped(const std::uint8_t* bytes, std::size_t count) {
    format::file_header header{};
    std::copy(std::begin(format::magic), std::end(format::magic), header.magic);
    header.version = format::version;
    header.header_bytes = sizeof header;
    header.mean_bytes = 1000;
    std::string text(reinterpret_cast<const char*>(&header), sizeof header);
    text.append(reinterpret_cast<const char*>(bytes), count / 8 * 8);
    format::checksum sum;
    for (std::size_t at = 0; at < text.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, sizeof word);
        sum.add(&word, 1);
    }
    const format::section_header end{format::section::end, 8, 1};
    const std::uint64_t value = sum.value();
    text.append(reinterpret_cast<const char*>(&end), sizeof end);
    return text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Begins with the section that says that the pages are those of the program's own malloc.
std::string of_own_malloc(const std::uint8_t* bytes, std::size_t count) {
    const format::section_header malloc_file{format::section::malloc_file, 1, 8};
    std::string text(reinterpret_cast<const char*>(&malloc_file), sizeof malloc_file);
    text.append("libc.so.").append(reinterpret_cast<const char*>(bytes), count);
    return wrapped(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

void read(const std::string& bytes) {
    const tenure::lab::saved_profile found = tenure::lab::read_profile(bytes);
    if (!found.ok()) return;
    for (const format::site& each : found.sites)
        fuzz::require(each.first_frame + each.frame_count <= found.frames.size(), "a stack is inside its section");
    for (const format::live_sample& each : found.live)
        fuzz::require(each.site < found.sites.size(), "a live block has a stack");
    for (std::size_t index = 1; index < found.pages.size(); ++index) {
        const format::page_run& before = found.pages[index - 1];
        fuzz::require(before.address + std::uint64_t{before.pages} * format::page_bytes <= found.pages[index].address,
                      "no two runs of pages overlap");
    }
    tenure::lab::named_profile named;
    named.stacks.resize(1);
    for (std::uint32_t site = 0; site < found.sites.size(); ++site) named.stacks[0].sites.push_back(site);
    const tenure::lab::pinned_memory pinned = tenure::lab::find_pinned(found, named);
    fuzz::require(found.live.empty() || !pinned.stacks.empty(), "every live block has a stack");
    for (const tenure::lab::pinning_stack& each : pinned.stacks)
        fuzz::require(std::isfinite(each.held.bytes) && std::isfinite(each.alone.bytes), "an estimate is a number");
    const tenure::lab::calibration exact(found);
    if (exact.is_possible()) {
        const format::estimate all = exact.by_group(std::vector<std::size_t>(found.live.size()), 1).front();
        fuzz::require(std::isfinite(all.bytes) && std::isfinite(all.variance) && std::isfinite(exact.total().bytes),
                      "an estimate is a number");
    }
    static_cast<void>(found.program());
    static_cast<void>(found.mapping_of(bytes.size()));
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    read(std::string(reinterpret_cast<const char*>(bytes), count));
    read(wrapped(bytes, count));
    read(of_own_malloc(bytes, count));
    return 0;
}
