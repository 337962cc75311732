// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/snapshot.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

namespace tenure::lab {

namespace {

std::filesystem::path path_of(std::string_view file) {
    return std::filesystem::path(__FILE__).parent_path() / "snapshots" / file;
}

std::string read(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}

void expect_snapshot(std::string_view file, const std::string& text) {
    const std::filesystem::path path = path_of(file);
    const char* update = std::getenv("UPDATE_SNAPSHOTS"); // NOLINT(concurrency-mt-unsafe): nothing sets it here
    if (update != nullptr && std::string_view(update) == "1") {
        const char* ci = std::getenv("CI"); // NOLINT(concurrency-mt-unsafe)
        if (ci != nullptr && std::string_view(ci) == "true")
            FAIL() << "UPDATE_SNAPSHOTS is set where nobody reads the diff";
        std::ofstream(path, std::ios::binary) << text;
        GTEST_SKIP() << "the snapshot " << file << " was written, not compared";
    }
    const std::string expected = read(path);
    if (expected == text) return;
    std::istringstream wanted(expected);
    std::istringstream found(text);
    std::string wanted_line;
    std::string found_line;
    for (int line = 1;; ++line) {
        const bool more_wanted = static_cast<bool>(std::getline(wanted, wanted_line));
        const bool more_found = static_cast<bool>(std::getline(found, found_line));
        if (more_wanted && more_found && wanted_line == found_line) continue;
        FAIL() << path << ", line " << line << "\n  expected: " << (more_wanted ? wanted_line : "the end")
               << "\n  found:    " << (more_found ? found_line : "the end")
               << "\nIf the new text is right, run the test with UPDATE_SNAPSHOTS=1 and read the diff.";
    }
}

}
