// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Combines contestants and mallocs into the rows of an experiment.

#include <fmt/format.h>

#include <algorithm>

#include "bench/harness/machine/machine.hpp"
#include "bench/harness/schedule.hpp"

namespace tenure::lab {

namespace {

void add_malloc_rows(std::vector<measured_row>& rows, const contestant& who, measured_row row,
                     std::span<const found_malloc> mallocs) {
    row.runs_on_malloc = true;
    for (const found_malloc& each : mallocs) {
        if (each.has_offsets || (!who.peer.empty() && who.peer != each.name)) continue;
        row.name = who.name.empty() ? each.name : std::string{who.name};
        row.peer = each.name;
        row.version = each.version;
        row.kind = each.name == system_malloc_name ? "system" : "preload";
        row.role = each.role == contestant_role::peer ? who.role : each.role;
        row.library = each.library;
        row.missing = each.found ? "" : each.reason;
        rows.push_back(row);
    }
}

void add_offset_rows(std::vector<measured_row>& rows, measured_row row, std::span<const found_malloc> given) {
    for (const found_malloc& each : given) {
        if (!each.has_offsets) continue;
        row.name = row.peer = each.name;
        row.library = each.library;
        rows.push_back(row);
    }
}

void complete_inlined(measured_row& row, const contestant& who, std::span<const library_peer> libraries) {
    if (who.peer.empty()) {
        if (who.role != contestant_role::reference) row.version = own_version();
        return;
    }
    const auto peer = std::find_if(libraries.begin(), libraries.end(),
                                   [&](const library_peer& each) { return each.name == who.peer; });
    if (peer == libraries.end()) return;
    row.version = version_of(*peer);
    // One of ours that uses another project's library.
    if (who.role == contestant_role::ours && !peer->has_own_tenure)
        row.version = fmt::format("{} with {} {}", own_version(), peer->name, row.version);
    if (peer->present && who.run != nullptr) return;
    row.missing = !peer->missing_because.empty()
                      ? std::string{peer->missing_because}
                      : fmt::format("it was not found when this was built; install the package {}", peer->package);
}

}

std::vector<measured_row> list_rows(const experiment& chosen, std::span<const found_malloc> mallocs,
                                    std::span<const library_peer> libraries) {
    std::vector<measured_row> rows;
    for (std::size_t source = 0; source < chosen.sources.size(); ++source) {
        const std::span<const contestant> some = chosen.sources[source]();
        for (std::size_t i = 0; i < some.size(); ++i) {
            const contestant& who = some[i];
            measured_row row;
            row.name = who.name;
            row.peer = who.peer;
            row.role = who.role;
            row.kind = who.role == contestant_role::reference ? "reference (ours)" : who.kind;
            row.note = who.note;
            row.source = source;
            row.contestant = i;
            row.parts = who.parts;
            row.environment = who.environment;
            if (who.how == route::process_malloc) {
                add_malloc_rows(rows, who, std::move(row), mallocs);
                continue;
            }
            if (who.how == route::offset_library) {
                add_offset_rows(rows, std::move(row), mallocs);
                continue;
            }
            complete_inlined(row, who, libraries);
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

}
