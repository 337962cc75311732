// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs the `tenure` command of this build tree as a user would.

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

struct command_outcome {
    int code = -1;
    std::string out, err;
};

/// The command is in the parent of the tests' folder.
inline std::string command_path() {
    const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return (tests.parent_path() / "tenure").string();
}

inline std::string text_of_file(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

inline void expect_words(const std::string& text, std::initializer_list<std::string> words) {
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << "\nnot in\n" << text;
}

/// Runs words through a shell, in the given directory.
inline command_outcome run_in(const std::string& directory, const std::string& words) {
    const support::temporary_folder folder;
    const std::filesystem::path& scratch = folder.path();
    const std::string line = "cd '" + directory + "' && " + words + " >'" + (scratch / "out").string() + "' 2>'" +
                             (scratch / "err").string() + "'";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of_file(scratch / "out"), text_of_file(scratch / "err")};
}

/// Runs `tenure WORDS` through a shell, in the given directory.
inline command_outcome run_command(const std::string& words, const std::string& directory = ".") {
    return run_in(directory, "'" + command_path() + "' " + words);
}
