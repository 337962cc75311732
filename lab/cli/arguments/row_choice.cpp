// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Matches names from the command line with the names of contestants.

#include "cli/arguments/row_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bench/experiments/registry.hpp"
#include "cli/arguments/nearest.hpp"

namespace tenure::lab {

namespace {

bool holds_name(const std::vector<std::string>& names, std::string_view wanted) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return same_name(name, wanted); });
}

/// Two libraries may have the same file name; the second is shown by the path that was given.
std::string unused_name(const std::vector<found_malloc>& mallocs, const found_malloc& added) {
    const bool taken =
        std::any_of(mallocs.begin(), mallocs.end(), [&](const found_malloc& each) { return each.name == added.name; });
    return taken ? added.given : added.name;
}

}

bool names_a_file(const std::string& word) {
    return word.find('/') != std::string::npos || word.find(".so") != std::string::npos;
}

row_choice::row_choice(std::vector<std::string> against, std::vector<std::string> only, peer_kind allowed)
    : only_(std::move(only)), mallocs_(find_mallocs()), libraries_(library_peers()) {
    for (std::string& word : against) {
        if (names_a_file(word)) {
            add_file(word);
        } else {
            peers_.push_back(std::move(word));
        }
    }
    std::vector<std::string> known;
    for (const found_malloc& each : mallocs_) known.push_back(each.name);
    for (const library_peer& each : libraries_) {
        if (allowed == peer_kind::any) {
            known.emplace_back(each.name);
        } else if (refusal_.empty() && holds_name(peers_, each.name)) {
            refusal_ = fmt::format("--against: {} cannot take the place of a program's malloc. Possible are: {}.",
                                   each.name, fmt::join(known, ", "));
        }
    }
    for (const std::string& peer : peers_) {
        if (holds_name(known, peer) || !refusal_.empty()) continue;
        refusal_ = unknown_name("peer", peer, known);
        std::error_code error;
        if (std::filesystem::is_regular_file(peer, error)) {
            refusal_ += fmt::format(" To use the file in this folder, write ./{}.", peer);
        }
    }
}

void row_choice::add_file(const std::string& path) {
    found_malloc added = find_malloc_file(path);
    if (!added.found) {
        if (refusal_.empty()) refusal_ = "--against: " + added.reason;
        return;
    }
    added.name = unused_name(mallocs_, added);
    mallocs_.push_back(std::move(added));
}

bool row_choice::is_opponent(const measured_row& row, const std::string& peer) const {
    return same_name(row.name, peer) || same_name(row.peer, peer);
}

bool row_choice::wanted(const experiment& chosen, const measured_row& row) const {
    if (row.name == chosen.baseline) return true;
    const bool ours = row.runs_on_malloc ? row.role != contestant_role::peer : row.peer.empty();
    const bool given_file = std::any_of(mallocs_.begin(), mallocs_.end(), [&](const found_malloc& each) {
        return !each.given.empty() && each.name == row.name;
    });
    const bool opponent =
        std::any_of(peers_.begin(), peers_.end(), [&](const std::string& peer) { return is_opponent(row, peer); });
    if (given_file || opponent) return true; // the peers in --against take part whatever --only says
    return only_.empty() ? peers_.empty() || ours : holds_name(only_, row.name);
}

std::vector<measured_row> row_choice::of(const experiment& chosen, std::uint64_t parts) {
    std::vector<measured_row> rows = list_rows(chosen, mallocs_, libraries_);
    for (const measured_row& row : rows) {
        if (!holds_name(seen_, row.name)) seen_.push_back(row.name);
    }
    const bool nobody = !only_.empty() && std::none_of(rows.begin(), rows.end(), [&](const measured_row& row) {
        return holds_name(only_, row.name);
    });
    if (nobody) return {};
    std::erase_if(rows, [&](const measured_row& row) {
        const bool elsewhere = row.parts != 0 && (row.parts & parts) == 0; // 0: the row is missing and has no parts
        return !wanted(chosen, row) || (elsewhere && !holds_name(only_, row.name));
    });
    return rows;
}

std::string row_choice::refusal() const {
    if (!refusal_.empty()) return refusal_;
    for (const found_malloc& each : mallocs_) {
        if (!each.has_offsets || holds_name(seen_, each.name)) continue;
        return fmt::format("--against: {} provides an offset allocator and no malloc: only `tenure bench offsets` "
                           "can use it",
                           each.given);
    }
    for (const std::string& name : only_) {
        if (!holds_name(seen_, name)) return unknown_name("contestant", name, seen_);
    }
    return {};
}

}
