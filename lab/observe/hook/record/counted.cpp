// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Reads the process's own file in the same way as the report does.

#include "observe/hook/record/counted.hpp"

#include <algorithm>
#include <cstring>

#include "observe/hook/interpose/calls.hpp"
#include "observe/hook/record/recorder.hpp"

namespace tenure::lab::hook {

namespace {

[[nodiscard]] bool has_name(const region_record& region, const char* name, std::size_t bytes) noexcept {
    const std::size_t length = std::min(bytes, sizeof region.name - 1);
    return region.taken == 2 && region.kind == region_kind::mark && std::strlen(region.name) == length &&
           std::memcmp(region.name, name, length) == 0;
}

[[nodiscard]] bool is_inside(const process_head& process, const thread_area& area, std::uint32_t node, const char* name,
                             std::size_t bytes) noexcept {
    for (; node != 0; node = area.node[node].parent) {
        if (has_name(process.region[area.node[node].region], name, bytes)) return true;
    }
    return false;
}

void add(const site_record& site, region_counts& to) noexcept {
    const call_group group = calls[site.call].group;
    if (group == call_group::allocation) {
        to.allocations += site.count;
        to.allocated_bytes += site.bytes;
    }
    if (group == call_group::release) to.releases += site.count;
    to.waits += site.waits;
}

}

}

using namespace tenure::lab::hook;

extern "C" int tenure_watch_counted(const char* name, std::size_t name_bytes, region_counts* to) {
    process_head* const process = head_of_process();
    *to = {};
    if (process == nullptr) return 0;
    const std::uint32_t active = this_thread.active;
    this_thread.active = 0;
    for_each_area([&](const thread_area& area) noexcept {
        for (std::uint32_t node = 1; node < area.nodes; ++node) {
            if (!has_name(process->region[area.node[node].region], name, name_bytes)) continue;
            to->stays += area.node[node].entries;
            to->quick_locks += area.node[node].quick_locks;
        }
        for (std::uint32_t index = 0; index < area.sites; ++index) {
            const site_record& site = area.site[index];
            if (is_inside(*process, area, site.node, name, name_bytes)) add(site, *to);
        }
    });
    this_thread.active = active;
    return to->stays > 0 ? 1 : 0;
}
