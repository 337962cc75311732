// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/advise_json.hpp"

#include "observe/replay/affinity/affinity_text.hpp"
#include "report/json/json_text.hpp"

namespace tenure::lab {

namespace {

using json = nlohmann::ordered_json;

json json_of(const lifetime_figures& of) { return {{"p50", of.p50}, {"p99", of.p99}, {"longest", of.longest}}; }

json json_of(const paired_estimate& of) {
    return {{"median", json_number(of.median)},
            {"low", json_number(of.low)},
            {"high", json_number(of.high)},
            {"rounds", of.rounds}};
}

json json_of(const measured_saving& of) {
    if (!of.error.empty()) return {{"error", of.error}};
    return {{"time_ratio", json_of(of.time_ratio)},
            {"first_replay_ratio", json_of(of.first_ratio)},
            {"is_of_first_replays", of.is_first_alone},
            {"saved_ns_per_call", json_of(of.saved_ns)},
            {"first_saved_ns_per_call", json_of(of.first_saved_ns)},
            {"recorded_ns_per_call", json_number(of.recorded_ns)},
            {"recorded_peak_mib", json_number(of.recorded_peak_mib)},
            {"advised_peak_mib", json_number(of.advised_peak_mib)},
            {"same_contents", of.same_contents},
            {"is_proven", of.is_proven()}};
}

json json_of(const block_group& group, bool has_frames) {
    json buckets = json::array();
    for (const std::uint64_t each : group.lifetimes) buckets.push_back(each);
    while (!buckets.empty() && buckets.back() == 0) buckets.erase(buckets.size() - 1);
    json made{{"blocks", group.blocks.size()},
              {"bytes", group.bytes},
              {"smallest", group.smallest},
              {"largest", group.largest},
              {"most_common", group.most_common},
              {"common_share", group.common_share},
              {"peak_blocks", group.peak_blocks},
              {"peak_bytes", group.peak_bytes},
              {"left", group.left},
              {"threads", group.threads},
              {"call_stacks", group.stacks},
              {"same_thread_share", group.same_thread_share},
              {"lifo_share", group.lifo_share},
              {"together_share", group.together_share},
              {"bursts", group.bursts.size()},
              {"zeroed", group.zeroed},
              {"resized", group.resized},
              {"resizes", group.resizes},
              {"lifetime_events", json_of(group.events)},
              {"lifetime_bytes", json_of(group.allocated)},
              {"lifetime_ns", json_of(group.time_ns)},
              {"lifetimes_by_bits_of_events", std::move(buckets)}};
    if (has_frames) made["lifetime_frames"] = json_of(group.frames);
    return made;
}

json json_of(const advised_group& one, const place_names& names, bool has_frames) {
    json made{{"advice", name_of(one.advice.kind)}, {"group", json_of(*one.group, has_frames)}};
    made["stack"] = one.group->stack == 0 ? json::array() : json(frames_in_words(*one.group, names));
    if (one.group->freed_stack != 0)
        made["freed"] = {{"stack", names(one.group->freed_stack)},
                         {"blocks", one.group->freed_there},
                         {"call_stacks", one.group->freed_stacks}};
    if (!one.reason.empty()) made["reason"] = one.reason;
    if (one.was_measured) made["saving"] = json_of(one.saving);
    if (one.advice.kind == advice_kind::leave_alone) return made;
    const code_lines lines = lines_for(*one.group, one.advice);
    made["why"] = one.advice.why;
    made["scope"] = scope_in_words(*one.group, one.advice, names);
    if (const std::string_view warning = scope_warning(one.advice); !warning.empty()) {
        made["scope_proof"] = name_of(one.advice.proof);
        made["scope_warning"] = warning;
    }
    made["cpp"] = lines.cpp;
    made["csharp"] = lines.csharp;
    made["confidence"] = name_of(one.advice.degree);
    made["learned_on"] = one.advice.learned_on;
    made["checked_on"] = one.advice.checked_on;
    made["violations"] = one.advice.violations;
    made["alignment"] = std::uint64_t{1} << one.advice.alignment_log2;
    if (one.advice.room_bytes != 0) made["room_bytes"] = one.advice.room_bytes;
    return made;
}

}

std::string to_json(const advice_report& found, const place_names& names) {
    json made{{"events", found.events},         {"blocks", found.blocks},   {"allocated_bytes", found.allocated_bytes},
              {"peak_bytes", found.peak_bytes}, {"threads", found.threads}, {"frames", found.frames},
              {"has_stacks", found.has_stacks}, {"base", found.base}};
    made["damage"] = found.damage;
    made["complete"] = found.is_complete;
    made["unknown_frees"] = found.unknown_frees;
    made["replay"] = {{"rounds", found.replay.rounds},
                      {"repeats", found.repeats},
                      {"touch", name_of(found.replay.touch)},
                      {"seed", found.replay.seed},
                      {"comparisons", found.comparisons}};
    made["groups"] =
        array_of(found.groups, [&](const advised_group& each) { return json_of(each, names, found.has_frames); });
    made["other_groups"] = {{"groups", found.other_groups}, {"blocks", found.other_blocks}};
    made["small_groups"] = {{"groups", found.small_groups}, {"blocks", found.small_blocks}};
    if (found.has_together) made["together"] = json_of(found.together);
    if (found.accesses.windows != 0) made["accesses"] = to_json(found.accesses, names);
    return json_text(made, 4);
}

}
