// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/report/profile_json.hpp"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "report/letters.hpp"

namespace tenure::lab {

nlohmann::json json_of_estimate(const profile_format::estimate& of) {
    return {{"samples", of.samples},
            {"blocks", std::llround(of.blocks)},
            {"bytes", std::llround(of.bytes)},
            {"error_bytes", std::llround(error_of(of))}};
}

nlohmann::json json_of_frames(const profile_stack& stack) {
    nlohmann::json frames = nlohmann::json::array();
    for (const profile_frame& frame : stack.frames) {
        for (const named_frame& each : frame.functions) {
            frames.push_back({{"function", shown(each)},
                              {"file", each.file},
                              {"line", each.line},
                              {"module", each.module},
                              {"inlined", each.is_inlined}});
        }
    }
    return frames;
}

namespace {

[[nodiscard]] nlohmann::json json_of(const profile_stack& stack) {
    nlohmann::json one{{"live", json_of_estimate(stack.live)},
                       {"at_peak", json_of_estimate(stack.at_peak)},
                       {"allocated", json_of_estimate(stack.allocated)},
                       {"frames", json_of_frames(stack)}};
    if (!stack.tag.empty()) one["tag"] = stack.tag;
    if (stack.live.samples != 0) {
        one["median_age_ms"] = stack.median_age_ms;
        one["oldest_ms"] = stack.oldest_ms;
    }
    return one;
}

[[nodiscard]] nlohmann::json json_of(const std::vector<profile_group>& groups) {
    nlohmann::json all = nlohmann::json::array();
    for (const profile_group& each : groups)
        all.push_back({{"name", each.name}, {"live", json_of_estimate(each.live)}});
    return all;
}

}

std::string to_json(const named_profile& profile) {
    nlohmann::json mappings = nlohmann::json::array();
    for (const profile_mapping& each : profile.mappings) {
        mappings.push_back({{"begin", each.begin},
                            {"end", each.end},
                            {"file_offset", each.file_offset},
                            {"path", printable(each.path)},
                            {"build_id", each.build_id}});
    }
    nlohmann::json changed = nlohmann::json::array();
    for (const std::string& each : profile.changed_files) changed.push_back(printable(each));
    nlohmann::json stacks = nlohmann::json::array();
    for (const profile_stack& each : profile.stacks) stacks.push_back(json_of(each));
    const nlohmann::json whole{{"program", profile.program},
                               {"command", profile.command},
                               {"process", profile.header.process},
                               {"mean_bytes", profile.header.mean_bytes},
                               {"started_ms", profile.header.started_ms},
                               {"saved_ms", profile.header.saved_ms},
                               {"peak_ms", profile.header.peak_ms},
                               {"lost_samples", profile.header.lost_samples},
                               {"heap_live_bytes", profile.heap_live_bytes},
                               {"live_is_calibrated", profile.is_calibrated},
                               {"live_unsampled_bytes", std::llround(profile.unsampled_bytes)},
                               {"live", json_of_estimate(profile.live)},
                               {"at_peak", json_of_estimate(profile.at_peak)},
                               {"allocated", json_of_estimate(profile.allocated)},
                               {"threads", json_of(profile.threads)},
                               {"tags", json_of(profile.tags)},
                               {"mappings", std::move(mappings)},
                               {"changed_files", std::move(changed)},
                               {"stacks", std::move(stacks)}};
    return whole.dump(2) + "\n";
}

}
