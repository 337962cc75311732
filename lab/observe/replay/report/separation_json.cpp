// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/separation_json.hpp"

#include "report/json/json_text.hpp"

namespace tenure::lab {

namespace {

using json = nlohmann::ordered_json;

json json_of(const separated_memory& of) {
    return {{"peak_bytes", json_number(of.peak)},
            {"mean_bytes", json_number(of.mean)},
            {"mean_trimmed_bytes", json_number(of.trimmed)},
            {"peak_trimmed_bytes", json_number(of.trimmed_peak)}};
}

json json_of(const separation_figures& of) {
    return {{"without", json_of(of.before)},
            {"with", json_of(of.after)},
            {"mean_live_bytes", json_number(of.mean_live)},
            {"peak_live_bytes", of.peak_bytes},
            {"is_better", of.is_better()}};
}

json json_of(const site_figures& of) {
    return {{"calls", of.calls}, {"bytes", of.bytes}, {"mean_held_bytes", json_number(of.held)}};
}

}

std::string to_json(const separation_report& found, const place_names& names) {
    json made{{"events", found.events}, {"calls", found.calls}, {"separated_calls", found.separated_calls}};
    made["damage"] = found.damage;
    made["refusal"] = found.refusal;
    made["origin"] = found.origin;
    made["candidates"] = found.candidates;
    made["replays"] = found.replays;
    made["repeats"] = shown_repeats;
    made["classes"] = array_of(found.advised.classes, [](const advice_class& each) {
        return json{{"number", each.number}, {"name", each.name}};
    });
    made["sites"] = array_of(found.sites, [&](const separated_site& each) {
        json site{{"class", each.number}, {"frames", each.frames}, {"call_stacks", each.stacks}};
        site["stack"] = frames_in_words(each, names);
        site["sum"] = json_of(each.sum);
        return site;
    });
    made["learned"] = json_of(found.learned);
    made["checked"] = array_of(found.checked, [](const checked_run& each) {
        json run{{"trace", each.name}, {"damage", each.damage}};
        run.update(json_of(each.figures));
        return run;
    });
    return json_text(made, 4);
}

}
