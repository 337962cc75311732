// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/cores/core_samples.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "report/letters.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;

/// An array of records, read at once.
class record_list {
public:
    record_list(const core_layout& layout, std::string_view name, std::uint64_t each_bytes)
        : record_list(layout, layout.root("profile") + layout[name], each_bytes) {}

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] std::uint64_t number(std::uint64_t index, std::uint64_t member, std::size_t bytes) const {
        return records_.number(index * each_bytes_ + member, bytes);
    }

private:
    record_list(const core_layout& layout, std::uint64_t array, std::uint64_t each_bytes)
        : each_bytes_(each_bytes), count_(layout.word(array, "array.count")), records_(read(layout, array)) {}

    [[nodiscard]] record_bytes read(const core_layout& layout, std::uint64_t array) const {
        constexpr std::uint64_t most_bytes = std::uint64_t{1} << 32;
        if (count_ > most_bytes / each_bytes_)
            throw core_error(
                fmt::format("The records of the heap profile are damaged: an array has {} entries.", count_));
        const std::uint64_t data = layout.word(array, "array.data");
        return record_bytes(count_ == 0 ? std::string{} : layout.core().read(data, count_ * each_bytes_));
    }

    std::uint64_t each_bytes_, count_;
    record_bytes records_;
};

void count_sample(format::estimate& to, std::uint64_t block_bytes, std::uint64_t mean_bytes) {
    const double chance = -std::expm1(-static_cast<double>(block_bytes) / static_cast<double>(mean_bytes));
    if (!(chance > 0)) return;
    const double all = static_cast<double>(block_bytes) / chance;
    ++to.samples;
    to.blocks += 1 / chance;
    to.bytes += all;
    to.variance += all * all * (1 - chance);
}

}

core_samples read_samples(const core_layout& layout) {
    core_samples found;
    const core_file& core = layout.core();
    found.is_running = core.number(layout.root("is_profiling"), 1) != 0;
    if (!found.is_running) return found;
    found.mean_bytes = core.word(layout.root("profile_mean"));
    if (found.mean_bytes == 0 || found.mean_bytes > std::uint64_t{1} << 30)
        throw core_error(
            fmt::format("The records of the heap profile are damaged: one byte in {} is recorded.", found.mean_bytes));
    found.lost_samples = layout.word(layout.root("profile"), "profile.lost");
    const record_list frames(layout, "profile.frames", sizeof(std::uint64_t));
    const record_list sites(layout, "profile.sites", layout["site.bytes"]);
    const record_list live(layout, "profile.live", layout["live.bytes"]);
    for (std::uint64_t index = 0; index < frames.count(); ++index)
        found.frames.push_back(frames.number(index, 0, sizeof(std::uint64_t)));
    for (std::uint64_t index = 0; index < sites.count(); ++index) {
        format::site site{};
        site.first_frame = sites.number(index, layout["site.first_frame"], 8);
        site.frame_count = static_cast<std::uint32_t>(sites.number(index, layout["site.frame_count"], 4));
        site.tag = static_cast<std::uint32_t>(sites.number(index, layout["site.tag"], 4));
        found.sites.push_back(site);
    }
    for (std::uint64_t index = 0; index < live.count(); ++index) {
        const auto member = [&](std::string_view name, std::size_t bytes) {
            return live.number(index, layout[name], bytes);
        };
        if (member("live.is_live", 1) == 0) continue;
        format::live_sample sample{};
        sample.address = member("live.address", 8);
        sample.asked_bytes = member("live.asked_bytes", 8);
        sample.block_bytes = member("live.block_bytes", 8);
        sample.allocated_ms = member("live.allocated_ms", 8);
        sample.thread = member("live.thread", 8);
        sample.site = static_cast<std::uint32_t>(member("live.site", 4));
        sample.tag = static_cast<std::uint32_t>(member("live.tag", 4));
        found.latest_ms = std::max(found.latest_ms, sample.allocated_ms);
        if (sample.site < found.sites.size())
            count_sample(found.sites[sample.site].live, sample.block_bytes, found.mean_bytes);
        found.live.push_back(sample);
    }
    return found;
}

std::string read_tag_names(const core_layout& layout) {
    constexpr std::uint64_t first_named = 2, most_tags = 1 << 16, most_letters = 256;
    const std::uint64_t tags = layout.root("tags");
    const std::uint64_t count = std::min(layout.number(tags, "tag_list.count", 4), most_tags);
    const std::uint64_t each = layout.number(tags, "tag_list.entry_bytes", 4);
    const std::uint64_t text_at = layout.number(tags, "tag_list.text_offset", 4);
    const std::uint64_t length_at = layout.number(tags, "tag_list.length_offset", 4);
    const std::uint64_t first = layout.word(tags, "tag_list.first");
    std::string names = "1 (other)\n"; // it has no entry: what came after the last of the tags
    for (std::uint64_t number = first_named; number < count; ++number) {
        const std::uint64_t text = layout.core().word(first + number * each + text_at);
        const std::uint64_t length = layout.core().word(first + number * each + length_at);
        if (text == 0 || length == 0 || length > most_letters) continue;
        try {
            names += fmt::format("{} {}\n", number, printable(layout.core().read(text, length)));
        } catch (const core_error&) { // a text of a file that is not here: the tag keeps its number
            continue;
        }
    }
    return names;
}

}
