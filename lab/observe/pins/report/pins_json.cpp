// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/pins/report/pins_json.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "observe/pins/report/course_chart.hpp"
#include "observe/pins/report/pins_text.hpp"
#include "observe/profile/report/profile_json.hpp"

namespace tenure::lab {

std::string to_json(const named_profile& profile, const pinned_memory& pinned, const memory_course& course) {
    nlohmann::json stacks = nlohmann::json::array();
    for (const pinning_stack& each : pinned.stacks) {
        const profile_stack& stack = profile.stacks[each.stack];
        nlohmann::json one{{"live", json_of_estimate(each.live)},
                           {"held", json_of_estimate(each.held)},
                           {"given_back_when_freed", json_of_estimate(each.alone)},
                           {"median_age_ms", stack.median_age_ms},
                           {"frames", json_of_frames(stack)}};
        if (!stack.tag.empty()) one["tag"] = stack.tag;
        stacks.push_back(std::move(one));
    }
    nlohmann::json others = nlohmann::json::array();
    for (const other_memory& each : pinned.others)
        others.push_back({{"name", each.name}, {"resident_bytes", each.resident_bytes}});
    nlohmann::json parts;
    for (const memory_part& each : all_parts(pinned.parts, pinned.malloc_file))
        parts[std::string{each.key}] = each.bytes;
    nlohmann::json whole{{"program", profile.program},
                         {"command", profile.command},
                         {"process", profile.header.process},
                         {"mean_bytes", profile.header.mean_bytes},
                         {"saved_ms", profile.header.saved_ms},
                         {"is_exact", pinned.is_exact},
                         {"is_calibrated", pinned.is_calibrated},
                         {"resident_bytes", pinned.parts.resident},
                         {"parts", std::move(parts)},
                         {"unexplained_bytes", pinned.parts.unexplained},
                         {"others", std::move(others)},
                         {"rounding", json_of_estimate(pinned.rounding)},
                         {"held", json_of_estimate(pinned.held)},
                         {"stacks", std::move(stacks)}};
    if (course.is_shown()) whole["over_time"] = json_of_course(course);
    if (!pinned.malloc_file.empty()) whole["malloc"] = pinned.malloc_file;
    if (pinned.from_core.is_set) whole["has_stacks"] = has_stacks(pinned);
    if (const malloc_words about = words_about(pinned); !about.what.empty()) whole["unknown"] = about.unknown;
    return whole.dump(2) + "\n";
}

}
