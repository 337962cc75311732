// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs this executable again in a separate process with another environment.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace support {

struct outcome {
    int status = -1; ///< exit status; negative: the signal that ended the process
    std::string output;
};

/// Runs the tests that match `filter`, with `environment` added to this process's own.
inline outcome run_again(const std::vector<std::pair<std::string, std::string>>& environment,
                         const std::string& filter) {
    outcome seen;
    int ends[2];
    if (::pipe(ends) != 0) return seen;
    const ::pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
        // Removes variables of a runner that shards or selects tests; they must not apply a second time.
        for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_FILTER", "GTEST_OUTPUT"})
            ::unsetenv(name);
        const std::string argument = "--gtest_filter=" + filter;
        // Under an emulator: what starts this executable there (cmake/toolchains/run_arm64).
        if (const char* const start = std::getenv("RUN_AGAIN"))
            ::execl(start, start, argument.c_str(), "--gtest_brief=1", static_cast<char*>(nullptr));
        ::execl("/proc/self/exe", "again", argument.c_str(), "--gtest_brief=1", static_cast<char*>(nullptr));
        std::_Exit(127);
    }
    ::close(ends[1]);
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        seen.output.append(buffer, static_cast<std::size_t>(count));
    ::close(ends[0]);
    int status = 0;
    if (child > 0 && ::waitpid(child, &status, 0) == child)
        seen.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return seen;
}

}
