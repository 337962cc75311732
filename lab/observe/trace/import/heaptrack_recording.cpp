// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/import/heaptrack_recording.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "report/letters.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t newest_format = 3;
constexpr std::uint64_t first_format_with_sizes = 3;
constexpr std::uint32_t most_frames = 64; ///< of heaptrack's call stacks, and of ours

}

bool is_heaptrack_line(std::string_view line) {
    line_fields fields(line);
    std::uint64_t version = 0;
    return fields.word() == "v" && fields.hex(version);
}

bool heaptrack_recording::take(std::string_view line) {
    if (line.empty()) return true;
    const line_fields fields(line.substr(1));
    switch (line.front()) {
    case 'v': return take_version(fields);
    case 'x': {
        line_fields from = fields;
        std::string_view path;
        if (!take_text(from, path)) return false;
        program_ = printable(path);
        return true;
    }
    case 'X': take_arguments(fields); return true;
    case 'm': return take_module(fields);
    case 's': return take_string(fields);
    case 'i': return take_instruction(fields);
    case 't': return take_node(fields);
    case 'a': return take_info(fields);
    case '+': return take_allocation(fields);
    case '-': return take_free(fields);
    case 'c': return take_time(fields);
    case 'A': // it was attached to a running program
    case 'I': // of the machine
    case 'R': // resident memory
    case 'S': // a suppression of leaks
    case '#': return true;
    default: return false;
    }
}

void heaptrack_recording::finish() {
    events_.finish();
    for (auto& [begin, mapping] : mappings_) to_.mappings.push_back(std::move(mapping));
    if (to_.stacks.size() > 1) to_.stack_frames = most_frames;
}

bool heaptrack_recording::take_version(line_fields fields) {
    std::uint64_t program = 0;
    if (!fields.hex(program)) return false;
    constexpr std::uint64_t unnumbered = 0x10200; // its format is 1, and the line does not say so
    version_ = program == unnumbered ? 1 : 0;
    if (!fields.is_over() && !fields.hex(version_)) return false;
    if (version_ <= newest_format) return true;
    to_.error = fmt::format("This has version {} of heaptrack's format. Versions up to {} can be read.", version_,
                            newest_format);
    return false;
}

bool heaptrack_recording::take_text(line_fields& fields, std::string_view& to) const {
    std::uint64_t bytes = 0;
    if (version_ < first_format_with_sizes) {
        to = fields.rest();
        return true;
    }
    return fields.hex(bytes) && fields.bytes(bytes, to);
}

void heaptrack_recording::take_arguments(line_fields fields) {
    to_.arguments.clear();
    for (std::string_view each = fields.word(); !each.empty(); each = fields.word())
        to_.arguments.push_back(printable(each));
}

bool heaptrack_recording::take_module(line_fields fields) {
    std::string_view name;
    std::uint64_t base = 0, at = 0, bytes = 0;
    if (version_ < first_format_with_sizes) {
        name = fields.word();
    } else if (!take_text(fields, name)) {
        return false;
    }
    if (name == "-") return true; // files of earlier lists count where the new list has nothing
    if (!fields.hex(base)) return false;
    std::string path = name == "x" ? program_ : printable(name);
    if (path.starts_with("linux-vdso")) path = "[vdso]";
    while (!fields.is_over()) {
        if (!fields.hex(at) || !fields.hex(bytes) || at > UINT64_MAX - base || bytes > UINT64_MAX - base - at)
            return false;
        const bool is_named = path.starts_with('/') || path.starts_with('[');
        if (!is_named || bytes == 0) continue;
        if (!spend(sizeof(trace_mapping) + path.size() + 64)) return false;
        add_mapping(base + at, base + at + bytes, at, path);
    }
    return true;
}

void heaptrack_recording::add_mapping(std::uint64_t begin, std::uint64_t end, std::uint64_t offset,
                                      const std::string& path) {
    auto each = mappings_.lower_bound(begin);
    if (each != mappings_.begin() && std::prev(each)->second.end > begin) --each;
    while (each != mappings_.end() && each->second.begin < end) each = mappings_.erase(each);
    mappings_.emplace_hint(each, begin, trace_mapping{begin, end, offset, path, {}});
}

bool heaptrack_recording::take_string(line_fields fields) {
    std::string_view text;
    if (!take_text(fields, text) || !spend(1)) return false;
    strings_.push_back(text.starts_with("operator new(") || text.starts_with("operator new[]("));
    return true;
}

bool heaptrack_recording::take_instruction(line_fields fields) {
    std::uint64_t address = 0, module = 0, function = 0;
    if (!fields.hex(address) || !fields.hex(module)) return false;
    if (!fields.is_over() && !fields.hex(function)) return false;
    if (function > strings_.size() || !spend(2 * sizeof(instruction))) return false;
    instructions_.push_back({address, function != 0 && strings_[function - 1]});
    return true;
}

bool heaptrack_recording::take_node(line_fields fields) {
    std::uint64_t at = 0, parent = 0;
    if (!fields.hex(at) || !fields.hex(parent) || parent > nodes_.size() || nodes_.size() >= UINT32_MAX) return false;
    instruction found{at, false};
    if (!instructions_.empty()) { // an interpreted file
        if (at == 0 || at > instructions_.size()) return false;
        found = instructions_[at - 1];
    }
    if (!spend(2 * sizeof(node))) return false;
    nodes_.push_back({found, static_cast<std::uint32_t>(parent), 0});
    return true;
}

bool heaptrack_recording::take_info(line_fields fields) {
    std::uint64_t bytes = 0, index = 0;
    if (!fields.hex(bytes) || !fields.hex(index) || index > nodes_.size() || !spend(2 * sizeof(info))) return false;
    infos_.push_back({bytes, static_cast<std::uint32_t>(index), imported_events::no_block});
    return true;
}

bool heaptrack_recording::take_allocation(line_fields fields) {
    std::uint64_t first = 0, index = 0, address = 0;
    if (!fields.hex(first)) return false;
    if (fields.is_over()) {
        if (first >= infos_.size()) return false;
        allocate_of(infos_[first]);
        return true;
    }
    if (!fields.hex(index) || !fields.hex(address) || index > nodes_.size()) return false;
    events_.allocate_at(address, call_of(index), first);
    return true;
}

bool heaptrack_recording::take_free(line_fields fields) {
    std::uint64_t which = 0;
    if (!fields.hex(which)) return false;
    if (infos_.empty()) {
        events_.deallocate_at(which, call_of(0));
        return true;
    }
    if (which >= infos_.size()) return false;
    free_of(infos_[which]);
    return true;
}

void heaptrack_recording::allocate_of(info& of) {
    const std::uint64_t block = events_.allocate(call_of(of.node), of.bytes);
    if (block == imported_events::no_block) return;
    older_.resize(block + 1, imported_events::no_block);
    older_[block] = std::exchange(of.newest, block);
}

void heaptrack_recording::free_of(info& of) {
    if (of.newest == imported_events::no_block) return events_.unknown_free();
    events_.deallocate(call_of(0), of.newest);
    of.newest = older_[of.newest];
}

bool heaptrack_recording::take_time(line_fields fields) {
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    std::uint64_t time_ms = 0;
    if (!fields.hex(time_ms) || time_ms > imported_events::max_time_ns / ns_per_ms) return false;
    time_ns_ = time_ms * ns_per_ms;
    return true;
}

imported_call heaptrack_recording::call_of(std::uint64_t index) {
    imported_call made;
    made.time_ns = time_ns_;
    if (index == 0) return made;
    node& of = nodes_[index - 1];
    if (of.at.is_new) made.family = trace_family::operator_new;
    if (of.stack == 0) {
        trace_stack stack;
        for (std::uint64_t each = index; each != 0 && stack.frames.size() < most_frames; each = nodes_[each - 1].parent)
            stack.frames.push_back(nodes_[each - 1].at.address +
                                   1); // of the call's last byte; ours are return addresses
        if (!spend(2 * sizeof stack + stack.frames.capacity() * sizeof stack.frames.front())) return made;
        of.stack = static_cast<std::uint32_t>(to_.stacks.size());
        to_.stacks.push_back(std::move(stack));
    }
    made.stack = of.stack;
    return made;
}

bool heaptrack_recording::spend(std::uint64_t bytes) {
    if (bytes > left_bytes_) {
        why_full_ = "There is no memory for more call stacks and lists of the recording.";
        return false;
    }
    left_bytes_ -= bytes;
    return true;
}

}
