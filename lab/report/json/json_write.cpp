// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json/json.hpp"

#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "report/analysis/standings.hpp"
#include "report/json/json_role.hpp"
#include "report/json/json_summary.hpp"
#include "report/json/json_text.hpp"
#include "report/result/primary.hpp"
#include "report/result/words.hpp"

namespace tenure::lab {

namespace {

using nlohmann::ordered_json;

ordered_json to_value(const metric& measured, const experiment_result& experiment) {
    ordered_json made{{"name", measured.name},
                      {"variant", measured.variant},
                      {"unit", measured.unit},
                      {"better", word_of(measured.sense)}};
    // Derived from the experiment's list, for readers of single figures. Our own reader ignores it.
    if (is_primary(experiment, measured.name, measured.variant)) made["primary"] = true;
    if (measured.resolution > 0) made["resolution"] = json_number(measured.resolution);
    made["samples"] = array_of(measured.samples, json_number);
    return made;
}

ordered_json to_value(const series& list) {
    ordered_json values = array_of(list.values, [](std::int64_t each) -> ordered_json {
        if (each == no_number) return nullptr;
        return each;
    });
    return {{"name", list.name}, {"variant", list.variant}, {"unit", list.unit}, {"values", std::move(values)}};
}

ordered_json to_value(const contestant_result& who, const experiment_result& experiment) {
    ordered_json made{
        {"name", who.name},     {"version", who.version}, {"kind", who.kind}, {"state", word_of(who.state)},
        {"reason", who.reason}, {"proof", who.proof},     {"note", who.note}};
    made["left_out"] = array_of(who.left_out, [](const left_out_part& one) {
        return ordered_json{{"part", one.part}, {"reason", one.reason}};
    });
    if (!experiment.summarized) {
        made["metrics"] = array_of(who.metrics, [&](const metric& measured) { return to_value(measured, experiment); });
        made["lists"] = array_of(who.lists, [](const series& list) { return to_value(list); });
    }
    if (who.role != role_without_field(who.name, who.kind)) made["role"] = word_of(who.role);
    return made;
}

/// Without fields that have their default, which is most of the text fields of a contestant.
ordered_json without_defaults(const ordered_json& object) {
    ordered_json made = ordered_json::object();
    for (const auto& [key, value] : object.items()) {
        const bool is_default =
            value == "" || (value.is_array() && value.empty()) || (key == "state" && value == "measured");
        if (!is_default) made[key] = value;
    }
    return made;
}

ordered_json to_value(const property_table& properties) {
    return {{"title", properties.title}, {"columns", properties.columns}, {"rows", properties.rows}};
}

ordered_json full_value(const experiment_result& found) {
    ordered_json made{
        {"name", found.name},
        {"question", found.question},
        {"unfair", found.unfair},
        {"baseline", found.baseline},
        {"parameters", array_of(found.parameters,
                                [](const parameter& given) {
                                    return ordered_json{{"name", given.name}, {"value", given.value}};
                                })},
        {"rounds", found.rounds},
        {"contestants",
         array_of(found.contestants, [&](const contestant_result& who) { return to_value(who, found); })},
        {"properties", array_of(found.properties, [](const property_table& one) { return to_value(one); })},
        {"quotients", array_of(found.quotients,
                               [](const quotient& one) {
                                   return ordered_json{{"title", one.title}, {"over", one.over}, {"under", one.under}};
                               })},
        {"ranking_rule", found.ranking_rule},
        {"ranking", found.ranking},
        {"unranked", found.unranked},
        {"primary", array_of(found.primary, [](const figure_pattern& one) {
             return ordered_json{{"metric", one.metric}, {"variant", one.variant}};
         })}};
    if (!found.lists.empty() && !found.summarized)
        made["lists"] = array_of(found.lists, [](const series& list) { return to_value(list); });
    return made;
}

ordered_json to_value(const experiment_result& found) {
    const ordered_json full = full_value(found);
    if (!found.summarized) return full;
    ordered_json made = without_defaults(full);
    for (ordered_json& who : made["contestants"]) who = without_defaults(who);
    write_summary(found, made);
    return made;
}

ordered_json to_value(const machine_info& machine) {
    return {{"cpu", machine.cpu},
            {"cores", machine.cores},
            {"memory_bytes", machine.memory_bytes},
            {"kernel", machine.kernel},
            {"system", machine.system},
            {"c_library", machine.c_library},
            {"huge_pages", machine.huge_pages},
            {"compiler", machine.compiler},
            {"flags", machine.flags},
            {"build_type", machine.build_type},
            {"commit", machine.commit}};
}

ordered_json to_value(const standing_counts& counts) {
    return {{"figures", counts.figures()},
            {"leads", counts.leads},
            {"level", counts.level},
            {"trails_up_to_a_tenth", counts.trails_little},
            {"trails_by_more", counts.trails_much}};
}

ordered_json to_value(const trailing_figure& one) {
    return {{"experiment", one.experiment},
            {"metric", one.metric},
            {"variant", one.variant},
            {"unit", one.unit},
            {"primary", one.primary},
            {"ours", one.ours},
            {"ours_median", json_number(one.ours_median)},
            {"other", one.other},
            {"other_median", json_number(one.other_median)},
            {"ratio", json_number(one.ratio.median)},
            {"ratio_low", json_number(one.ratio.low)},
            {"ratio_high", json_number(one.ratio.high)}};
}

/// Derived from the samples; the reader ignores it.
ordered_json to_value(const standings& found) {
    ordered_json made{{"experiments", array_of(found.experiments,
                                               [](const experiment_standing& one) {
                                                   ordered_json row{{"name", one.experiment}};
                                                   row.update(to_value(one.counts));
                                                   return row;
                                               })},
                      {"all", to_value(found.all)}};
    if (found.all_but_vectors) made["all_but_vectors"] = to_value(*found.all_but_vectors);
    made["trails"] = array_of(found.trails, [](const trailing_figure& one) { return to_value(one); });
    return made;
}

}

std::string to_json(const result& found) {
    const bool summary = is_summary(found);
    ordered_json whole = {{"format", summary ? summary_format : result_format},
                          {"tool", "tenure bench"},
                          {"tool_version", found.tool_version},
                          {"started_at", found.started_at},
                          {"command", found.command},
                          {"complete", found.complete},
                          {"machine", to_value(found.machine)}};
    if (!summary) whole["distance"] = to_value(standings_of(found));
    whole["experiments"] = array_of(found.experiments, [](const experiment_result& one) { return to_value(one); });
    return summary ? json_lines(whole) : json_text(whole);
}

}
