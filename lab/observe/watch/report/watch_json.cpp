// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/watch_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "observe/watch/blame.hpp"
#include "observe/watch/report/watch_words.hpp"
#include "report/json/json_text.hpp"

namespace tenure::lab {

namespace {

using json = nlohmann::ordered_json;

/// Rounded to a whole number: fractions of a nanosecond were not measured.
json whole(double value) {
    constexpr double most = 9e18;
    if (!std::isfinite(value)) return nullptr;
    return static_cast<std::int64_t>(std::llround(std::clamp(value, -most, most)));
}

json share(double value) {
    constexpr double places = 1e6;
    return std::isfinite(value) ? json(std::round(value * places) / places) : json(nullptr);
}

json to_value(const watched_process& process) {
    return {{"process", process.process},
            {"parent", process.parent},
            {"is_child", process.is_child},
            {"has_own_malloc", process.has_own_malloc},
            {"program", process.program},
            {"command", process.command},
            {"end", machine_word(process.end)},
            {"signal", process.signal},
            {"exit_code", process.has_exit_code ? json(process.exit_code) : json(nullptr)},
            {"lost_entries", process.lost_entries},
            {"span_ns", whole(process.span_ns)},
            {"threads", process.threads},
            {"lost_threads", process.lost_threads},
            {"lost_stacks", process.lost_stacks},
            {"lost_sites", process.lost_sites},
            {"lost_nodes", process.lost_nodes},
            {"unwound", process.unwound},
            {"fault_ns", whole(process.fault_ns)}};
}

json to_value(const region_time& time) {
    return {{"total_ns", whole(time.total_ns)},
            {"running_ns", whole(time.running_ns)},
            {"allocation_ns", whole(time.allocation_ns)},
            {"mapping_ns", whole(time.mapping_ns)},
            {"faults_ns", whole(time.faults_ns)},
            {"waiting_ns", whole(time.waiting_ns)},
            {"queued_ns", whole(time.queued_ns)},
            {"idle_ns", whole(time.idle_ns)},
            {"unexplained_ns", whole(time.unexplained_ns)}};
}

json to_value(const kernel_account& kernel) {
    return {{"asked_share", share(kernel.asked_share)},   {"processor_ns", whole(kernel.processor_ns)},
            {"queue_ns", whole(kernel.queue_ns)},         {"user_ns", whole(kernel.user_ns)},
            {"system_ns", whole(kernel.system_ns)},       {"small_faults", whole(kernel.small_faults)},
            {"large_faults", whole(kernel.large_faults)}, {"voluntary", whole(kernel.voluntary)},
            {"involuntary", whole(kernel.involuntary)}};
}

json to_value(const timeline_thread& line) {
    return {{"thread", line.thread},
            {"name", line.name},
            {"thinned", line.thinned},
            {"stays", array_of(line.stays,
                               [](const timeline_stay& one) {
                                   return json::array({whole(one.first_ns), whole(one.last_ns)});
                               })},
            {"waits", array_of(line.waits, [](const timeline_wait& one) {
                 return json::array({whole(one.first_ns), whole(one.last_ns), one.site});
             })}};
}

/// Writes the values that refer to frames, and collects the frames.
class writer {
public:
    json to_value(const watched_region& region) {
        const auto sites = [this](const std::vector<watched_site>& list) {
            return array_of(list, [this](const watched_site& one) { return to_value(one); });
        };
        return {
            {"kind", machine_word(region.kind)},
            {"name", region.name},
            {"place", region.place},
            {"process", region.process},
            {"recording", region.recording},
            {"threads", region.threads},
            {"entries", region.entries},
            {"instances", region.instances},
            {"max_at_once", region.max_at_once},
            {"is_open", region.is_open},
            {"span_ns", whole(region.span_ns)},
            {"longest_ns", whole(region.longest_ns)},
            {"min_inside_ns", whole(region.min_inside_ns)},
            {"max_inside_ns", whole(region.max_inside_ns)},
            {"late_ns", whole(region.late_ns)},
            {"calls", region.calls},
            {"allocations", region.allocations},
            {"allocated_bytes", region.allocated_bytes},
            {"releases", region.releases},
            {"null_frees", region.null_frees},
            {"waits", region.waits},
            {"quick_locks", region.quick_locks},
            {"time", lab::to_value(region.time)},
            {"kernel", lab::to_value(region.kernel)},
            {"allocation_share", share(allocation_share(region))},
            {"waiting_share", share(waiting_share(region))},
            {"advice", region.advice},
            {"sites", sites(region.sites)},
            {"stacks", sites(region.stacks)},
            {"timeline", array_of(region.timeline, [](const timeline_thread& line) { return lab::to_value(line); })}};
    }

    [[nodiscard]] json frames() { return std::move(frames_); }

private:
    using frame_key = std::tuple<std::string, std::string, int, std::string, std::uint64_t, bool>;

    json to_value(const watched_site& site) {
        const hook::call_info& about = hook::info(site.call);
        return {{"call", about.name},
                {"group", machine_word(about.group)},
                {"what", what_happens(site)},
                {"where", where(site)},
                {"object", site.object},
                {"is_wait", site.is_wait},
                {"is_tenures", site.is_tenures},
                {"cost_ns", whole(cost_of(site))},
                {"count", site.count},
                {"bytes", site.bytes},
                {"null_frees", site.null_frees},
                {"ns", whole(site.ns)},
                {"longest_ns", whole(site.longest_ns)},
                {"waits", site.waits},
                {"wait_ns", whole(site.wait_ns)},
                {"longest_wait_ns", whole(site.longest_wait_ns)},
                {"slow", site.slow},
                {"slow_ns", whole(site.slow_ns)},
                {"slow_faults", site.slow_faults},
                {"interrupted", site.interrupted},
                {"interrupted_ns", whole(site.interrupted_ns)},
                {"threads", site.threads},
                {"has_more_threads", site.has_more_threads},
                {"holders", array_of(site.holders,
                                     [](const auto& one) {
                                         return json{{"thread", one.first}, {"count", one.second}};
                                     })},
                {"blamed", site.blamed},
                {"stack", array_of(site.stack, [this](const named_frame& frame) { return place_of(frame); })}};
    }

    static json where(const watched_site& site) {
        if (site.blamed >= site.stack.size()) return nullptr;
        const named_frame& frame = site.stack[site.blamed];
        return {{"function", frame.function}, {"file", frame.file}, {"line", frame.line}, {"module", frame.module}};
    }

    std::size_t place_of(const named_frame& frame) {
        const frame_key key{frame.function, frame.file, frame.line, frame.module, frame.offset, frame.is_inlined};
        const auto [entry, is_new] = places_.try_emplace(key, places_.size());
        if (is_new) {
            frames_.push_back({{"function", frame.function},
                               {"file", frame.file},
                               {"line", frame.line},
                               {"module", frame.module},
                               {"offset", frame.offset},
                               {"is_inlined", frame.is_inlined}});
        }
        return entry->second;
    }

    json frames_ = json::array();
    std::map<frame_key, std::size_t> places_;
};

}

std::string to_json(const findings& found) {
    writer writes;
    json regions = array_of(found.regions, [&writes](const watched_region& one) { return writes.to_value(one); });
    const json all = {
        {"format", watch_format},
        {"tool", "tenure watch"},
        {"processes", array_of(found.processes, [](const watched_process& one) { return to_value(one); })},
        {"notices", found.notices},
        {"marks", array_of(found.moments,
                           [](const watched_moment& one) {
                               return json{{"process", one.process},
                                           {"thread", one.thread},
                                           {"at_ns", whole(one.at_ns)},
                                           {"name", one.name}};
                           })},
        {"lost_marks", found.lost_moments},
        {"regions", std::move(regions)},
        {"frames", writes.frames()}};
    constexpr std::size_t max_in_line = 6; // a frame or a wait; a thousand waits take a thousand lines
    return json_text(all, max_in_line);
}

}
