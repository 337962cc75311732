// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// support/again.hpp for Windows: runs this executable again with another environment.

#include <process.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace support {

struct outcome {
    int status = -1; ///< exit status
    std::string output;
};

/// Runs the tests that match `filter`, with `environment` added to this process's own.
inline outcome run_again(const std::vector<std::pair<std::string, std::string>>& environment,
                         const std::string& filter) {
    outcome seen;
    const std::string file = testing::TempDir() + std::to_string(::_getpid()) + "-again.txt";
    const auto set = [&](bool is_added) {
        for (const auto& [name, value] : environment) ::_putenv_s(name.c_str(), is_added ? value.c_str() : "");
    };
    set(true);
    // The outer quotes are cmd's: it removes the first and the last.
    const std::string program = _pgmptr;
    const std::string line =
        "\"\"" + program + "\" --gtest_filter=" + filter + " --gtest_brief=1 > \"" + file + "\" 2>&1\"";
    seen.status = std::system(line.c_str());
    set(false);
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    seen.output = text.str();
    std::remove(file.c_str());
    return seen;
}

}
