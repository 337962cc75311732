// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/named_profile.hpp"

#include <elf.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "observe/profile/calibration.hpp"
#include "report/letters.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;

constexpr std::string_view no_tag = "(no tag)";

/// The loadable parts of a file: from the offset in the file to the address that its symbols have.
class loaded_parts {
public:
    explicit loaded_parts(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        Elf64_Ehdr head{};
        if (!file.read(reinterpret_cast<char*>(&head), sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
            return;
        file.seekg(static_cast<std::streamoff>(head.e_phoff));
        for (unsigned index = 0; index < head.e_phnum; ++index) {
            Elf64_Phdr part{};
            if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return;
            if (part.p_type == PT_LOAD) parts_.push_back(part);
        }
    }
    /// The address that belongs to an offset in the file: the same number where nothing else is known.
    [[nodiscard]] std::uint64_t address_of(std::uint64_t offset) const {
        for (const Elf64_Phdr& each : parts_) {
            if (offset >= each.p_offset && offset - each.p_offset < each.p_filesz)
                return each.p_vaddr + (offset - each.p_offset);
        }
        return offset;
    }

private:
    std::vector<Elf64_Phdr> parts_;
};

/// Names each return address once.
class frame_names {
public:
    frame_names(const saved_profile& saved, symbols& names) : saved_(saved), names_(names) {}

    [[nodiscard]] const std::vector<named_frame>& at(std::uint64_t address) {
        const auto [entry, is_new] = known_.try_emplace(address);
        if (!is_new) return entry->second;
        const profile_mapping* const mapping = saved_.mapping_of(address - 1);
        const bool is_file = mapping != nullptr && mapping->path.starts_with('/');
        if (is_file && !is_same_build(*mapping)) {
            named_frame unknown;
            unknown.module = printable(mapping->path);
            unknown.offset = address - 1 - mapping->begin + mapping->file_offset;
            entry->second.push_back(std::move(unknown));
        } else if (is_file) {
            const auto part = parts_.try_emplace(mapping->path, mapping->path).first;
            const std::uint64_t in_file = address - mapping->begin + mapping->file_offset;
            entry->second = names_.at(mapping->path, part->second.address_of(in_file), true);
        } else {
            entry->second = names_.made_at_run_time(static_cast<std::uint32_t>(saved_.header.process), address);
        }
        return entry->second;
    }

    /// Files that are not what ran, so that their names would be wrong.
    [[nodiscard]] const std::vector<std::string>& changed_files() const { return changed_; }

private:
    [[nodiscard]] bool is_same_build(const profile_mapping& mapping) {
        if (mapping.build_id.empty()) return true;
        const auto [entry, is_new] = builds_.try_emplace({mapping.path, mapping.build_id}, true);
        if (!is_new) return entry->second;
        const std::string now = names_.build_id(mapping.path);
        std::error_code error;
        const bool is_there = std::filesystem::exists(mapping.path, error);
        entry->second = now == mapping.build_id || !is_there;
        if (!entry->second) changed_.push_back(mapping.path);
        return entry->second;
    }

    const saved_profile& saved_;
    symbols& names_;
    std::map<std::pair<std::string, std::string>, bool> builds_; ///< by path and ID: whether the file is that build
    std::vector<std::string> changed_;
    std::map<std::string, loaded_parts> parts_;
    std::unordered_map<std::uint64_t, std::vector<named_frame>> known_;
};

/// The library's own functions, with which every stack begins.
[[nodiscard]] bool is_of_library(const named_frame& frame) {
    const std::string file = std::filesystem::path(frame.module).filename().string();
    if (file.starts_with("libtenure")) return true;
    const std::string_view name = frame.function;
    const std::string_view plain = name.substr(0, name.find('('));
    return plain.starts_with("tenure::") || plain.find(" tenure::") != std::string_view::npos ||
           plain.starts_with("tn_") || plain.starts_with("operator new") || plain.starts_with("std::allocator") ||
           plain.starts_with("std::__new_allocator") || plain.starts_with("__gnu_cxx::new_allocator");
}

[[nodiscard]] std::vector<profile_frame> frames_of(const saved_profile& saved, const format::site& site,
                                                   frame_names& names) {
    std::vector<profile_frame> found;
    for (std::uint32_t index = 0; index < site.frame_count; ++index) {
        const std::uint64_t address = saved.frames[site.first_frame + index];
        found.push_back({address, names.at(address)});
    }
    // Own functions go, also those that were inlined into the caller's; something always stays.
    while (!found.empty()) {
        std::vector<named_frame>& functions = found.front().functions;
        const auto kept = std::find_if_not(functions.begin(), functions.end(), is_of_library);
        if (kept == functions.end() && found.size() > 1) {
            found.erase(found.begin());
            continue;
        }
        if (kept != functions.end()) functions.erase(functions.begin(), kept);
        break;
    }
    return found;
}

/// Two stacks are one if they read the same: the same functions at the same lines.
[[nodiscard]] std::string key_of(const profile_stack& stack) {
    std::string key = stack.tag;
    for (const profile_frame& frame : stack.frames) {
        for (const named_frame& each : frame.functions)
            key += fmt::format("\n{}\t{}\t{}", shown(each), each.file, each.line);
    }
    return key;
}

void set_ages(const saved_profile& saved, const std::vector<std::size_t>& stack_of_site, named_profile& to) {
    std::vector<std::vector<std::uint64_t>> ages(to.stacks.size());
    for (const format::live_sample& each : saved.live) {
        const std::uint64_t age = saved.header.saved_ms - std::min(saved.header.saved_ms, each.allocated_ms);
        ages[stack_of_site[each.site]].push_back(age);
    }
    for (std::size_t index = 0; index < ages.size(); ++index) {
        std::vector<std::uint64_t>& of = ages[index];
        if (of.empty()) continue;
        const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
        std::nth_element(of.begin(), middle, of.end());
        to.stacks[index].median_age_ms = *middle;
        to.stacks[index].oldest_ms = *std::max_element(of.begin(), of.end());
    }
}

void calibrate(const saved_profile& saved, const calibration& exact, const std::vector<std::size_t>& stack_of_site,
               named_profile& to) {
    std::vector<std::size_t> stack_of_sample;
    for (const format::live_sample& each : saved.live) stack_of_sample.push_back(stack_of_site[each.site]);
    const std::vector<format::estimate> found = exact.by_group(stack_of_sample, to.stacks.size());
    for (std::size_t index = 0; index < found.size(); ++index) to.stacks[index].live = found[index];
    to.live = exact.total();
    to.unsampled_bytes = exact.unsampled_bytes();
    to.is_calibrated = true;
}

/// What a sample stands for.
[[nodiscard]] format::estimate estimate_of(const format::live_sample& sample, std::uint64_t mean_bytes) {
    const auto bytes = static_cast<double>(sample.block_bytes);
    const double chance = chance_of(sample.block_bytes, mean_bytes);
    if (!(chance > 0)) return {1, 0, 0, 0};
    const double all = bytes / chance;
    return {1, 1 / chance, all, all * all * (1 - chance)};
}

/// The sums of the live samples by name, the most bytes first. `name_of(sample)` is the group's name.
template<class NameOf>
[[nodiscard]] std::vector<profile_group> groups_of(const saved_profile& saved, const calibration& exact,
                                                   NameOf&& name_of) {
    std::map<std::string, std::size_t> known;
    std::vector<std::size_t> group_of_sample;
    std::vector<profile_group> groups;
    for (const format::live_sample& each : saved.live) {
        const auto [entry, is_new] = known.try_emplace(name_of(each), groups.size());
        if (is_new) groups.push_back({entry->first, {}});
        group_of_sample.push_back(entry->second);
        add(groups[entry->second].live, estimate_of(each, saved.header.mean_bytes));
    }
    if (exact.is_possible()) {
        const std::vector<format::estimate> found = exact.by_group(group_of_sample, groups.size());
        for (std::size_t index = 0; index < groups.size(); ++index) groups[index].live = found[index];
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const profile_group& a, const profile_group& b) { return a.live.bytes > b.live.bytes; });
    return groups;
}

[[nodiscard]] std::string tag_name(const saved_profile& saved, std::uint32_t tag) {
    if (tag == 0) return {};
    const auto found = saved.tags.find(tag);
    return found != saved.tags.end() ? found->second : fmt::format("tag {}", tag);
}

}

named_profile name_profile(const saved_profile& saved, symbols& names) {
    named_profile named;
    named.program = saved.program();
    named.command = fmt::format("{}", fmt::join(saved.arguments, " "));
    named.header = saved.header;
    std::copy_if(saved.mappings.begin(), saved.mappings.end(), std::back_inserter(named.mappings),
                 [](const profile_mapping& each) { return each.is_code; });
    for (const format::size_class& each : saved.classes) named.heap_live_bytes += each.live_bytes;
    frame_names frames(saved, names);
    std::unordered_map<std::string, std::size_t> known;
    std::vector<std::size_t> stack_of_site;
    for (const format::site& site : saved.sites) {
        profile_stack stack{frames_of(saved, site, frames), tag_name(saved, site.tag)};
        const auto [entry, is_new] = known.try_emplace(key_of(stack), named.stacks.size());
        if (is_new) named.stacks.push_back(std::move(stack));
        profile_stack& to = named.stacks[entry->second];
        to.sites.push_back(static_cast<std::uint32_t>(stack_of_site.size()));
        stack_of_site.push_back(entry->second);
        add(to.allocated, site.allocated);
        add(to.live, site.live);
        add(to.at_peak, site.at_peak);
        add(named.allocated, site.allocated);
        add(named.live, site.live);
        add(named.at_peak, site.at_peak);
    }
    named.changed_files = frames.changed_files();
    set_ages(saved, stack_of_site, named);
    const calibration exact(saved);
    if (exact.is_possible()) calibrate(saved, exact, stack_of_site, named);
    named.threads =
        groups_of(saved, exact, [](const format::live_sample& each) { return std::to_string(each.thread); });
    named.tags = groups_of(saved, exact, [&](const format::live_sample& each) {
        return each.tag == 0 ? std::string{no_tag} : tag_name(saved, each.tag);
    });
    if (named.tags.size() == 1 && named.tags.front().name == no_tag) named.tags.clear();
    std::stable_sort(named.stacks.begin(), named.stacks.end(), [](const profile_stack& a, const profile_stack& b) {
        return a.live.bytes != b.live.bytes ? a.live.bytes > b.live.bytes : a.allocated.bytes > b.allocated.bytes;
    });
    return named;
}

const profile_format::estimate& total_of(const named_profile& profile, profile_value value) {
    if (value == &profile_stack::allocated) return profile.allocated;
    return value == &profile_stack::live ? profile.live : profile.at_peak;
}

double error_of(const profile_format::estimate& of) {
    constexpr double deviations = 1.96;
    return deviations * std::sqrt(std::max(of.variance, 0.0));
}

std::vector<std::string> path_of(const profile_stack& stack) {
    std::vector<std::string> path;
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
        for (auto each = frame->functions.rbegin(); each != frame->functions.rend(); ++each)
            path.push_back(shown(*each));
    }
    return path;
}

}
