// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program with more rights than whoever starts it: the environment is not its own.

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>

#include "support/own_path.hpp"
#include "support/process.hpp"

namespace {

constexpr std::string_view has_more_rights = "it has more rights than its caller";

/// Makes a program one that runs as somebody else, or in another group. Returns   whether the system lets us.
bool give_more_rights(const std::string& program) {
    constexpr mode_t usual = S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;
    constexpr uid_t nobody = 65'534;
    if (::geteuid() == 0)
        return ::chown(program.c_str(), nobody, static_cast<gid_t>(-1)) == 0 &&
               ::chmod(program.c_str(), usual | S_ISUID) == 0;
    std::vector<gid_t> groups(64);
    const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    for (int index = 0; index < count; ++index) {
        const gid_t group = groups[static_cast<std::size_t>(index)];
        if (group == ::getegid() || ::chown(program.c_str(), static_cast<uid_t>(-1), group) != 0) continue;
        return ::chmod(program.c_str(), usual | S_ISGID) == 0;
    }
    return false;
}

/// Runs a program through a shell. Returns   what it says.
std::string said_by(const std::string& line) {
    std::string said;
    FILE* const program = ::popen(line.c_str(), "r");
    char buffer[4096];
    while (program != nullptr && std::fgets(buffer, sizeof buffer, program) != nullptr) said += buffer;
    if (program != nullptr) ::pclose(program);
    return said;
}

// Run again by the test below, by another name and with its own environment.
TEST(rights, DISABLED_says_where_options_come_from) {
    if (::getauxval(AT_SECURE) != 0) std::printf("%s\n", has_more_rights.data());
    const bool is_heard = tenure::option_source(tenure::option::handle_report) == tenure::option_origin::environment;
    const bool has_folder = tenure::host::environment("TMPDIR") != nullptr;
    std::printf("option %s, folder %s\n", is_heard ? "heard" : "not heard", has_folder ? "heard" : "not heard");
}

TEST(rights, the_environment_of_a_program_with_more_rights_than_its_caller_is_not_heard) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer's own options come from the environment";
    const std::string program = support::own_path("more-rights");
    std::filesystem::copy_file("/proc/self/exe", program);
    const std::string line = "TENURE_HANDLE_REPORT=text TMPDIR=/tmp GTEST_ALSO_RUN_DISABLED_TESTS=1 '" + program +
                             "' --gtest_filter='*DISABLED_says_where_options_come_from' 2>&1";
    const std::string usual = said_by(line);
    const bool is_possible = give_more_rights(program);
    const std::string with_rights = said_by(line);
    std::filesystem::remove(program);
    EXPECT_NE(usual.find("option heard, folder heard"), std::string::npos) << usual;
    if (!is_possible || with_rights.find(has_more_rights) == std::string::npos)
        GTEST_SKIP() << "this user cannot make such a program here: " << with_rights;
    EXPECT_NE(with_rights.find("option not heard, folder not heard"), std::string::npos) << with_rights;
}

}
