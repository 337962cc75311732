// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs a program as a child and waits for it, with the terminal's signals as if it had been started alone.

#include <functional>
#include <string>
#include <vector>

#include "report/temporary_folder.hpp"

namespace tenure::lab {

/// The shell's codes: the program was found and could not be run; the program was not found.
inline constexpr int cannot_run = 126, not_found = 127;

/// What keeps a program from being run with a preloaded library.
struct program_choice {
    std::string path;
    std::string refusal; ///< a sentence; empty when it can be run
    int code = 0;        ///< to exit with if it cannot
};
/// `verb` is the end of a sentence: "watched".
[[nodiscard]] program_choice choose_program(const std::string& name, const std::string& verb);

struct ended_program {
    int process = 0; ///< zero: it was not run
    int code = 0;    ///< as a shell reports it
    int signal = 0;  ///< that ended it
};

/// Runs `path` with these words, the first of which is its name. `prepare` runs in the child just before, with the
/// number of its process; it may change the environment. `begun` runs in this process when the child was started.
/// Errors are reported.
[[nodiscard]] ended_program run_program(const std::string& path, const std::vector<std::string>& words,
                                        const std::function<void()>& prepare, const std::function<void()>& begun = {});

/// Puts a library first in LD_PRELOAD.
void preload_first(const std::string& library);

/// The loader treats spaces and colons as separators. For a path with one of them, a link in `folder` is created and
/// returned instead.
[[nodiscard]] std::string preloadable(const std::string& library, const std::string& folder);

/// The same with a folder of its own, which is temporary and goes with this object.
class preloadable_library {
public:
    explicit preloadable_library(const std::string& library);

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    temporary_folder folder_; ///< none, if none was needed
    std::string path_;
};

/// Why a file cannot be written, as a sentence; empty when it can, and for "-". `input` is a file that must not be
/// replaced, because it is read.
[[nodiscard]] std::string why_not_writable(const std::string& path, const std::string& input = {});

}
