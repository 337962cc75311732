// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Draws a line over itself.

#include "bench/harness/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace tenure::lab {

namespace {

std::size_t terminal_width() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}

progress::progress(std::string_view experiment, std::size_t jobs)
    : experiment_(experiment), jobs_(jobs), terminal_(::isatty(STDERR_FILENO) == 1) {}

progress::~progress() {
    if (terminal_) std::fputs("\r\033[K", stderr);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - begin_).count();
    std::fputs(
        fmt::format("{}: {} measurement{} in {} s\n", experiment_, done_, done_ == 1 ? "" : "s", seconds).c_str(),
        stderr);
}

std::string progress::time_left(clock::time_point now) const {
    if (done_ < 3) return "…";
    const double spent = std::chrono::duration<double>(now - begin_).count();
    const auto left = static_cast<unsigned>(spent / static_cast<double>(done_) * static_cast<double>(jobs_ - done_));
    return fmt::format("{}:{:02} left", left / 60, left % 60);
}

void progress::show(const std::string& line) {
    const std::size_t room = terminal_width() - 1;
    std::size_t shown = 0, bytes = 0; // cut between characters, not inside one
    while (bytes < line.size() && shown < room) {
        ++bytes;
        while (bytes < line.size() && (static_cast<unsigned char>(line[bytes]) & 0xC0u) == 0x80u) ++bytes;
        ++shown;
    }
    std::fputs(("\r" + line.substr(0, bytes) + "\033[K").c_str(), stderr);
}

void progress::starting(std::uint32_t round, std::uint32_t rounds, std::string_view contestant, std::string_view part,
                        std::string_view waits) {
    if (!terminal_) return;
    const auto now = clock::now();
    if (waits.empty() && now - shown_ < std::chrono::milliseconds{100}) return;
    // After a part that waits, the next one is shown at once.
    shown_ = waits.empty() ? now : clock::time_point{};
    const std::string doing =
        waits.empty() ? fmt::format("{}, {}", contestant, part) : fmt::format("{} waits for {}", contestant, waits);
    show(fmt::format("{}  round {} of {}  {}  {}", experiment_, round, rounds, time_left(now), doing));
}

}
