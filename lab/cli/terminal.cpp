// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Queries the terminal.

#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "report/letters.hpp"
#include "report/write.hpp"

namespace tenure::lab {

text_style output_style() {
    text_style style;
    if (::isatty(STDOUT_FILENO) != 1) return style;
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
    const char* const refused = std::getenv("NO_COLOR");
    if (refused == nullptr || *refused == '\0') style.colours = colour::ansi;
    return style;
}

bool print(std::string_view text) {
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!whole) say(fmt::format("standard output could not be written: {}", std::strerror(errno)));
    return whole;
}

bool write_to(const std::string& path, std::string_view text) {
    if (path.empty()) return true;
    if (path == "-") return print(text);
    const std::string error = write_file(path, text);
    if (!error.empty()) say(error);
    return error.empty();
}

void say(std::string_view text) { std::fputs(fmt::format("tenure: {}\n", printable(text)).c_str(), stderr); }

}
