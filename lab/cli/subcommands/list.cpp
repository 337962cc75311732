// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Prints the program's tables and the peers found on this machine, as text or as JSON.

#include "cli/subcommands/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/experiments/registry.hpp"
#include "bench/harness/machine/machine.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"
#include "bench/harness/schedule.hpp"
#include "cli/command_line.hpp"
#include "cli/terminal.hpp"

namespace tenure::lab {

namespace {

/// One line of the list: a peer of either kind.
struct listed_peer {
    std::string name, kind, version, missing;
    bool is_ours = false;
};

std::vector<listed_peer> all_peers(const std::vector<found_malloc>& mallocs,
                                   const std::vector<library_peer>& libraries) {
    std::vector<listed_peer> peers;
    for (const found_malloc& each : mallocs) {
        peers.push_back({each.name, each.library.empty() ? "system" : "preload", each.version, each.reason,
                         each.role != contestant_role::peer});
    }
    for (const library_peer& each : libraries) {
        listed_peer peer{std::string{each.name}, "library", version_of(each), std::string{each.missing_because}};
        if (!each.present && peer.missing.empty()) {
            peer.missing = fmt::format("it was not found when this was built; install the package {}", each.package);
        }
        peers.push_back(std::move(peer));
    }
    return peers;
}

/// Quoted, because part names contain commas.
std::vector<std::string> quoted_parts(const experiment& chosen) {
    std::vector<std::string> names;
    for (const part& each : chosen.parts) names.push_back(fmt::format("\"{}\"", each.name));
    return names;
}

nlohmann::json parts_of(const experiment& chosen) {
    nlohmann::json names = nlohmann::json::array();
    for (const part& each : chosen.parts) names.push_back(each.name);
    return names;
}

std::vector<std::string> row_names(const std::vector<measured_row>& rows) {
    std::vector<std::string> names;
    for (const measured_row& row : rows) names.push_back(row.name);
    return names;
}

/// Wraps words at `width` and indents each line; words may contain spaces.
std::string wrapped(const std::vector<std::string>& words, std::size_t indent, std::size_t width) {
    std::string made(indent, ' ');
    std::size_t column = indent;
    for (const std::string& word : words) {
        if (column > indent && column + 1 + word.size() > width) {
            made += '\n' + std::string(indent, ' ');
            column = indent;
        }
        if (column > indent) {
            made += ' ';
            ++column;
        }
        made += word;
        column += word.size();
    }
    return made + '\n';
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        words.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// "Parts: one, the other.", with no name broken across lines.
std::vector<std::string> named_list(std::string_view title, std::vector<std::string> names) {
    for (std::size_t i = 0; i < names.size(); ++i) names[i] += i + 1 < names.size() ? "," : ".";
    names.insert(names.begin(), fmt::format("{}:", title));
    return names;
}

std::string in_words(const std::vector<listed_peer>& peers, std::span<const found_malloc> mallocs,
                     std::span<const library_peer> libraries) {
    const std::size_t width = output_style().width;
    std::string made = "Experiments\n";
    for (const experiment& each : experiments()) {
        made += fmt::format("  {}\n", each.name);
        made += wrapped(words_of(each.question), 4, width);
        made += wrapped(named_list("Contestants", row_names(list_rows(each, mallocs, libraries))), 4, width);
        made += wrapped(named_list("Parts", quoted_parts(each)), 4, width);
    }
    std::size_t longest = 0;
    for (const listed_peer& peer : peers) longest = std::max(longest, peer.name.size());
    const auto add = [&made, longest](const listed_peer& found) {
        made += fmt::format("  {:<{}} {:<8} {}\n", found.name, longest, found.kind,
                            found.version.empty() ? "-" : found.version);
    };
    made += "\nOurs\n";
    add({"tenure", "inlined", own_version(), {}});
    for (const listed_peer& peer : peers) {
        if (peer.missing.empty() && peer.is_ours) add(peer);
    }
    made += "\nPeers on this machine\n";
    for (const listed_peer& peer : peers) {
        if (peer.missing.empty() && !peer.is_ours) add(peer);
    }
    made += "\nMissing\n";
    for (const listed_peer& peer : peers) {
        if (!peer.missing.empty()) made += fmt::format("  {:<{}} {}\n", peer.name, longest, peer.missing);
    }
    return made;
}

nlohmann::json as_json(const std::vector<listed_peer>& peers, std::span<const found_malloc> mallocs,
                       std::span<const library_peer> libraries) {
    nlohmann::json made{
        {"version", own_version()}, {"experiments", nlohmann::json::array()}, {"peers", nlohmann::json::array()}};
    for (const experiment& each : experiments()) {
        made["experiments"].push_back({{"name", each.name},
                                       {"question", each.question},
                                       {"baseline", each.baseline},
                                       {"parts", parts_of(each)},
                                       {"contestants", row_names(list_rows(each, mallocs, libraries))}});
    }
    for (const listed_peer& peer : peers) {
        made["peers"].push_back({{"name", peer.name},
                                 {"kind", peer.kind},
                                 {"version", peer.version},
                                 {"found", peer.missing.empty()},
                                 {"missing", peer.missing}});
    }
    return made;
}

}

list_command::list_command(CLI::App& app)
    : command_(app.add_subcommand("list", "Lists experiments, allocators, and the peers on this machine with their "
                                          "versions")) {
    command_->add_flag("--json", json_, "Prints JSON");
    command_->footer(fmt::format("\nExample:\n  tenure list\n\n{}", plain_exit_codes_help));
}

int list_command::run() const {
    const std::vector<found_malloc> mallocs = find_mallocs();
    const std::vector<library_peer> libraries = library_peers();
    const std::vector<listed_peer> peers = all_peers(mallocs, libraries);
    const bool printed =
        json_ ? print(as_json(peers, mallocs, libraries).dump(2) + "\n") : print(in_words(peers, mallocs, libraries));
    return printed ? exit_code::ok : exit_code::not_written;
}

}
