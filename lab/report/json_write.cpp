// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "report/json_role.hpp"
#include "report/json_text.hpp"
#include "report/primary.hpp"
#include "report/standings.hpp"
#include "report/words.hpp"

namespace tenure::lab {

namespace {

using json = nlohmann::ordered_json;

/// JSON cannot represent numbers that are not finite.
json number(double value) {
    if (std::isnan(value)) return nullptr;
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

json to_value(const metric& measured, const experiment_result& experiment) {
    json made{{"name", measured.name},
              {"variant", measured.variant},
              {"unit", measured.unit},
              {"better", word_of(measured.sense)}};
    // Derived from the experiment's list, for readers of single figures. Our own reader ignores it.
    if (is_primary(experiment, measured.name, measured.variant)) made["primary"] = true;
    made["samples"] = array_of(measured.samples, number);
    return made;
}

json to_value(const series& list) {
    return {{"name", list.name}, {"variant", list.variant}, {"unit", list.unit}, {"values", list.values}};
}

json to_value(const contestant_result& who, const experiment_result& experiment) {
    json made{
        {"name", who.name},
        {"version", who.version},
        {"kind", who.kind},
        {"state", word_of(who.state)},
        {"reason", who.reason},
        {"proof", who.proof},
        {"note", who.note},
        {"left_out", array_of(who.left_out,
                              [](const left_out_part& one) {
                                  return json{{"part", one.part}, {"reason", one.reason}};
                              })},
        {"metrics", array_of(who.metrics, [&](const metric& measured) { return to_value(measured, experiment); })},
        {"lists", array_of(who.lists, [](const series& list) { return to_value(list); })}};
    if (who.role != role_without_field(who.name, who.kind)) made["role"] = word_of(who.role);
    return made;
}

json to_value(const property_table& properties) {
    return {{"title", properties.title}, {"columns", properties.columns}, {"rows", properties.rows}};
}

json to_value(const experiment_result& found) {
    return {{"name", found.name},
            {"question", found.question},
            {"unfair", found.unfair},
            {"baseline", found.baseline},
            {"parameters", array_of(found.parameters,
                                    [](const parameter& given) {
                                        return json{{"name", given.name}, {"value", given.value}};
                                    })},
            {"rounds", found.rounds},
            {"contestants",
             array_of(found.contestants, [&](const contestant_result& who) { return to_value(who, found); })},
            {"properties", array_of(found.properties, [](const property_table& one) { return to_value(one); })},
            {"quotients", array_of(found.quotients,
                                   [](const quotient& one) {
                                       return json{{"title", one.title}, {"over", one.over}, {"under", one.under}};
                                   })},
            {"ranking_rule", found.ranking_rule},
            {"ranking", found.ranking},
            {"unranked", found.unranked},
            {"primary", array_of(found.primary, [](const figure_pattern& one) {
                 return json{{"metric", one.metric}, {"variant", one.variant}};
             })}};
}

json to_value(const machine_info& machine) {
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

json to_value(const standing_counts& counts) {
    return {{"figures", counts.figures()},
            {"leads", counts.leads},
            {"level", counts.level},
            {"trails_up_to_a_tenth", counts.trails_little},
            {"trails_by_more", counts.trails_much}};
}

json to_value(const trailing_figure& one) {
    return {{"experiment", one.experiment},
            {"metric", one.metric},
            {"variant", one.variant},
            {"unit", one.unit},
            {"primary", one.primary},
            {"ours", one.ours},
            {"ours_median", number(one.ours_median)},
            {"other", one.other},
            {"other_median", number(one.other_median)},
            {"ratio", number(one.ratio.median)},
            {"ratio_low", number(one.ratio.low)},
            {"ratio_high", number(one.ratio.high)}};
}

/// Derived from the samples; the reader ignores it.
json to_value(const standings& found) {
    json made{{"experiments", array_of(found.experiments,
                                       [](const experiment_standing& one) {
                                           json row{{"name", one.experiment}};
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
    const json whole = {
        {"format", result_format},
        {"tool", "tenure bench"},
        {"tool_version", found.tool_version},
        {"started_at", found.started_at},
        {"command", found.command},
        {"complete", found.complete},
        {"machine", to_value(found.machine)},
        {"distance", to_value(standings_of(found))},
        {"experiments", array_of(found.experiments, [](const experiment_result& one) { return to_value(one); })}};
    return json_text(whole);
}

}
