// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A program of programs/, watched by the command of this build tree, and what the command says about it.

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/own_path.hpp"
#include "support/run_command.hpp"

namespace watched {

using json = nlohmann::json;

struct outcome {
    int code = -1;
    std::string out, err, text;
    json report;
};

inline std::string path_of(const std::string& program) {
    const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return (tests / "watch" / ("watched_" + program)).string();
}

inline bool is_built(const std::string& program) { return std::filesystem::exists(path_of(program)); }

/// `tenure watch OPTIONS -- PROGRAM ARGUMENTS`.
inline outcome run(const std::string& program, const std::string& options = {}, const std::string& arguments = {}) {
    const std::string json_file = support::own_path("watched.json"), text_file = support::own_path("watched.txt");
    const command_outcome ran = run_command("watch --json '" + json_file + "' -o '" + text_file + "' " + options +
                                            " -- '" + path_of(program) + "' " + arguments);
    outcome seen{ran.code, ran.out, ran.err, text_of_file(text_file),
                 json::parse(text_of_file(json_file), nullptr, false)};
    std::filesystem::remove(json_file);
    std::filesystem::remove(text_file);
    return seen;
}

/// The first region with such a word; an empty object, and a failure, when there is none.
inline json region_with(const outcome& seen, const char* key, const std::string& word) {
    json found = json::object();
    for (const json& region : seen.report["regions"]) {
        if (region[key] == word && found.empty()) found = region;
    }
    EXPECT_FALSE(found.empty()) << "no region whose " << key << " is " << word << "\n" << seen.text;
    // What sites and stacks refer to.
    if (!found.empty()) found["frames"] = seen.report["frames"];
    return found;
}
inline json region_of_kind(const outcome& seen, const std::string& kind) { return region_with(seen, "kind", kind); }
inline json region_named(const outcome& seen, const std::string& name) { return region_with(seen, "name", name); }

inline bool is_site(const json& site, const std::string& call, const std::string& function) {
    return site["call"] == call && site["where"].is_object() &&
           site["where"]["function"].get<std::string>().find(function) != std::string::npos;
}

/// The dearest site of a call in a function; an empty object, and a failure, when there is none.
inline json site(const json& region, const std::string& call, const std::string& function) {
    for (const json& each : region["sites"]) {
        if (is_site(each, call, function)) return each;
    }
    ADD_FAILURE() << "no " << call << " in " << function << " among " << region["sites"].size() << " sites";
    return json::object();
}

inline std::uint64_t count_of(const json& region, const std::string& call, const std::string& function) {
    std::uint64_t count = 0;
    for (const json& each : region["sites"]) {
        if (is_site(each, call, function)) count += each["count"].get<std::uint64_t>();
    }
    return count;
}

/// Whether some stack of a call goes through a function.
inline bool some_stack_has(const json& region, const std::string& call, const std::string& function) {
    for (const json& each : region["stacks"]) {
        if (each["call"] != call) continue;
        for (const json& index : each["stack"]) {
            const json& frame = region["frames"][index.get<std::size_t>()];
            if (frame["function"].get<std::string>().find(function) != std::string::npos) return true;
        }
    }
    return false;
}

/// Of where the time went; a few ns are rounded.
inline std::int64_t sum_of_parts(const json& region) {
    std::int64_t sum = 0;
    for (const auto& [name, part] : region["time"].items()) {
        if (name != "total_ns") sum += part.get<std::int64_t>();
    }
    const std::int64_t total = region["time"]["total_ns"];
    return std::abs(sum - total) <= 8 ? total : sum;
}

}
