// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/separation/separation.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace tenure::lab {

bool can_be_read(const advice_object& object) {
    constexpr std::string_view digits = "0123456789abcdef";
    if (object.path.empty() || object.path.size() > max_object_path) return false;
    if (object.path.find_first_of("\n\r") != std::string::npos) return false;
    return object.build_id.size() % 2 == 0 && object.build_id.size() <= max_build_id_digits &&
           object.build_id.find_first_not_of(digits) == std::string::npos;
}

code_places::place code_places::find(std::uint64_t return_address) const {
    // A call may be the last instruction of a mapping, so a return address may be its end.
    const auto after =
        std::lower_bound(mappings_.begin(), mappings_.end(), return_address,
                         [](const trace_mapping& each, std::uint64_t address) { return each.begin < address; });
    if (after == mappings_.begin()) return {};
    const trace_mapping& found = *std::prev(after);
    // What is generated while the program runs has no file, and the next run has it elsewhere.
    if (return_address > found.end || !found.path.starts_with('/')) return {};
    if (found.path.find_first_of("\n\r") != std::string::npos) return {};
    return {&found, return_address - found.begin + found.file_offset};
}

namespace {

/// The sites, by their frames.
class site_index {
public:
    explicit site_index(const separation& advised) {
        for (std::uint32_t site = 0; site < advised.sites.size(); ++site) {
            std::uint32_t node = 0;
            for (const advice_frame& frame : advised.sites[site].frames)
                node = next_.try_emplace(key{node, frame.object, frame.offset}, ++count_).first->second;
            site_of_[node] = site;
        }
    }

    /// `place_of`: the frame of an address of the stack; an object of no_site: none.
    template<class PlaceOf>
    [[nodiscard]] std::uint32_t find(const std::vector<std::uint64_t>& frames, PlaceOf place_of) const {
        std::uint32_t node = 0, found = no_site;
        for (std::size_t i = 0; i < std::min(frames.size(), max_site_frames); ++i) {
            const advice_frame frame = place_of(frames[i]);
            const auto next = next_.find(key{node, frame.object, frame.offset});
            if (frame.object == no_site || next == next_.end()) break;
            node = next->second;
            if (const auto site = site_of_.find(node); site != site_of_.end()) found = site->second;
        }
        return found;
    }

private:
    struct key {
        std::uint32_t node, object;
        std::uint64_t offset;
        friend auto operator<=>(const key&, const key&) = default;
    };
    std::map<key, std::uint32_t> next_;
    std::map<std::uint32_t, std::uint32_t> site_of_;
    std::uint32_t count_ = 0;
};

bool is_same(const trace_mapping& mapping, const advice_object& object) {
    if (!mapping.build_id.empty() && !object.build_id.empty()) return mapping.build_id == object.build_id;
    return mapping.path == object.path;
}

}

std::vector<std::uint32_t> sites_of(const trace& recorded, const separation& advised) {
    const site_index index(advised);
    const code_places places(recorded);
    std::map<const trace_mapping*, std::uint32_t> objects;
    for (const trace_mapping& mapping : recorded.mappings) {
        const auto same = std::find_if(advised.objects.begin(), advised.objects.end(),
                                       [&](const advice_object& each) { return is_same(mapping, each); });
        objects[&mapping] =
            same == advised.objects.end() ? no_site : static_cast<std::uint32_t>(same - advised.objects.begin());
    }
    const auto place_of = [&](std::uint64_t address) -> advice_frame {
        const code_places::place found = places.find(address);
        if (found.mapping == nullptr) return {no_site, 0};
        return {objects[found.mapping], found.offset};
    };
    std::vector<std::uint32_t> made;
    made.reserve(recorded.stacks.size());
    for (const trace_stack& each : recorded.stacks) made.push_back(index.find(each.frames, place_of));
    return made;
}

std::vector<std::uint8_t> classes_of(const trace& recorded, const separation& advised) {
    std::vector<std::uint8_t> made;
    made.reserve(recorded.stacks.size());
    for (const std::uint32_t site : sites_of(recorded, advised))
        made.push_back(site == no_site ? ordinary_class : advised.sites[site].number);
    return made;
}

}
