// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/cores/core_layout.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_set>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

using debug_layout::header;

/// A name of fixed length, ended by a zero.
template<std::size_t room>
[[nodiscard]] std::string name_of(const char (&name)[room]) {
    return {name, std::find(std::begin(name), std::end(name), '\0')};
}

[[nodiscard]] bool ends_with(std::string_view name, std::string_view ending) { return name.ends_with(ending); }

}

core_layout::core_layout(const core_file& core, std::uint64_t address) : core_(core) {
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20, most_value = std::uint64_t{1} << 26;
    header head{};
    core.read(address, &head, sizeof head);
    const std::string damaged = fmt::format("The layout of the heap's records at {:#x} is damaged", address);
    if (head.version != debug_layout::version) {
        throw core_error(fmt::format("The library's records have version {} of the layout; this command reads version "
                                     "{}. Use the command of the release that the program was built with.",
                                     head.version, debug_layout::version));
    }
    const auto check = [&](std::uint64_t offset, std::uint64_t count, std::uint64_t each, std::uint64_t least) {
        const bool is_sound = each >= least && each <= most_bytes && offset >= sizeof head &&
                              head.bytes <= most_bytes && count <= most_bytes && offset + count * each <= head.bytes;
        if (!is_sound) throw core_error(damaged + ": a table lies outside.");
    };
    check(head.facts, head.fact_count, head.fact_bytes, sizeof(debug_layout::fact));
    check(head.roots, head.root_count, head.root_bytes, sizeof(debug_layout::root));
    check(head.classes, head.class_count, head.class_bytes, sizeof(debug_layout::size_class));
    const std::string body = core.read(address, head.bytes);
    for (std::uint32_t index = 0; index < head.fact_count; ++index) {
        debug_layout::fact each{};
        std::memcpy(&each, body.data() + head.facts + std::size_t{index} * head.fact_bytes, sizeof each);
        const std::string name = name_of(each.name);
        const bool is_size = ends_with(name, ".bytes") || name.starts_with("limit.");
        if (each.value > most_value || (is_size && each.value == 0))
            throw core_error(fmt::format("{}: a number of it is {}.", damaged, each.value));
        facts_[name] = each.value;
    }
    for (std::uint32_t index = 0; index < head.root_count; ++index) {
        debug_layout::root each{};
        std::memcpy(&each, body.data() + head.roots + std::size_t{index} * head.root_bytes, sizeof each);
        std::uint64_t found = 0;
        std::memcpy(&found, &each.address, sizeof found);
        roots_[name_of(each.name)] = found;
    }
    constexpr std::uint32_t most_block = 1 << 20, most_slices = 64, most_blocks = 1 << 16;
    for (std::uint32_t index = 0; index < head.class_count; ++index) {
        debug_layout::size_class each{};
        std::memcpy(&each, body.data() + head.classes + std::size_t{index} * head.class_bytes, sizeof each);
        if (each.block_bytes == 0 || each.block_bytes > most_block || each.page_slices == 0 ||
            each.page_slices > most_slices || each.page_blocks == 0 || each.page_blocks > most_blocks)
            throw core_error(fmt::format("{}: a size class has blocks of {} bytes.", damaged, each.block_bytes));
        classes_.push_back(each);
    }
}

std::vector<std::uint64_t> core_layout::find(const core_file& core) {
    constexpr std::uint64_t step = std::uint64_t{1} << 20, align = 8, most = 64;
    const std::string_view magic{debug_layout::heap_magic, sizeof debug_layout::heap_magic};
    std::vector<std::uint64_t> found;
    // The loader writes to the object, which is in the data of a file: other memory is not searched.
    for (const core_part& part : core.parts()) {
        if (core.mapping_of(part.begin) == nullptr) continue;
        for (std::uint64_t at = part.begin; at < part.end; at += step) {
            const std::uint64_t bytes = std::min(step + sizeof(header), part.end - at);
            const std::string text = core.read(at, bytes);
            for (std::size_t place = text.find(magic); place != std::string::npos;
                 place = text.find(magic, place + 1)) {
                header head{};
                if (place % align != 0 || place >= step || text.size() - place < sizeof head) continue;
                std::memcpy(&head, text.data() + place, sizeof head);
                std::uint64_t itself = 0;
                std::memcpy(&itself, &head.self, sizeof itself);
                if (itself == at + place && found.size() < most) found.push_back(itself);
            }
        }
    }
    return found;
}

std::uint64_t core_layout::operator[](std::string_view name) const {
    const auto found = facts_.find(name);
    if (found == facts_.end()) {
        throw core_error(fmt::format("The library's layout does not say {}. Use the command of the release that the "
                                     "program was built with.",
                                     name));
    }
    return found->second;
}

std::uint64_t core_layout::root(std::string_view name) const {
    const auto found = roots_.find(name);
    if (found == roots_.end() || found->second == 0) {
        throw core_error(
            fmt::format("The library's layout has no address for '{}'. Use the command of the release that "
                        "the program was built with.",
                        name));
    }
    return found->second;
}

std::uint64_t core_layout::word(std::uint64_t record, std::string_view name) const {
    return core_.word(record + (*this)[name]);
}

std::uint64_t core_layout::number(std::uint64_t record, std::string_view name, std::size_t bytes) const {
    return core_.number(record + (*this)[name], bytes);
}

std::vector<std::uint64_t> core_layout::list(std::uint64_t first, std::string_view next, std::string_view what) const {
    constexpr std::size_t most = std::size_t{1} << 22;
    const std::uint64_t next_at = (*this)[next];
    std::vector<std::uint64_t> found;
    std::unordered_set<std::uint64_t> seen;
    for (std::uint64_t each = core_.word(first); each != 0; each = core_.word(each + next_at)) {
        if (found.size() == most || !seen.insert(each).second)
            throw core_error(fmt::format("The heap's list of {} is damaged: it has no end.", what));
        found.push_back(each);
    }
    return found;
}

std::uint64_t record_bytes::number(std::uint64_t at, std::size_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at)
        throw core_error("The heap's records are damaged: a record is longer than the memory that it is in.");
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at, std::min(count, sizeof value));
    return value;
}

}
