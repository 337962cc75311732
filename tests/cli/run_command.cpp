// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/run_command.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

std::string text_of(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}

std::string command_path() {
    auto const tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return (tests.parent_path() / "tenure").string();
}

command_outcome run_command(const std::string& words, const std::string& directory) {
    std::string name = testing::TempDir() + "tenure-cli-XXXXXX";
    std::filesystem::path const scratch = ::mkdtemp(name.data());
    std::string const line = "cd '" + directory + "' && '" + command_path() + "' " + words + " >'" +
                             (scratch / "out").string() + "' 2>'" + (scratch / "err").string() + "'";
    int const status = std::system(line.c_str());
    command_outcome found{WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(scratch / "out"),
                          text_of(scratch / "err")};
    std::filesystem::remove_all(scratch);
    return found;
}
