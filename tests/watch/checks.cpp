// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "watch/checks.hpp"

// Sources of another folder's tests: each folder is a program of its own, and these are no library.
#include "report/page_check.cpp" // NOLINT(bugprone-suspicious-include)
#include "report/snapshot.cpp"   // NOLINT(bugprone-suspicious-include)

namespace tenure::lab {

void expect_watch_snapshot(std::string_view file, const std::string& text) {
    expect_snapshot("../../watch/snapshots/" + std::string(file), text);
}

std::string page_faults(std::string_view page) {
    std::string lines;
    for (const std::string& fault : faults_of(page)) lines += fault + "\n";
    return lines;
}

}
