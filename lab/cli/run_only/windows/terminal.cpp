// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What the command writes, on Windows. In place of cli/terminal.cpp.

#include "cli/terminal.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "report/letters.hpp"

namespace tenure::lab {

bool print(std::string_view text) {
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!whole) say(fmt::format("standard output could not be written: {}", std::strerror(errno)));
    return whole;
}

void say(std::string_view text) { std::fputs(fmt::format("tenure: {}\n", printable(text)).c_str(), stderr); }

}
