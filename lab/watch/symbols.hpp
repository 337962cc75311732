// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Names of frames, after the program has ended: functions, also those that were inlined, files and lines (elfutils'
/// libdw), and what a runtime says about code that it made (perf maps).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::lab {

struct named_frame {
    std::string function; ///< as the compiler wrote it, with its arguments; empty: not known
    std::string file;     ///< empty: not known
    int line = 0;
    std::string module; ///< the file that the code is in; empty for code made at run time
    std::uint64_t offset = 0;
    bool is_inlined = false; ///< into the one that follows
};

/// "draw(int)", or "libfoo.so+0x12af" where no name is known.
[[nodiscard]] std::string shown(const named_frame& frame);
/// "scene.cpp:120", or nothing.
[[nodiscard]] std::string shown_place(const named_frame& frame);

class symbols {
public:
    symbols();
    ~symbols();
    symbols(const symbols&) = delete;
    symbols& operator=(const symbols&) = delete;

    /// What is at the offset in the file: the innermost inlined function first, the real one last. `is_return` : the
    /// address is where a call returns to, so that what is named is the call. Never empty.
    [[nodiscard]] const std::vector<named_frame>& at(std::string_view module, std::uint64_t offset, bool is_return);
    /// The same for an address in no module, of a process.
    [[nodiscard]] const std::vector<named_frame>& made_at_run_time(std::uint32_t process, std::uint64_t address);
    /// The variable at an offset; empty when there is none.
    [[nodiscard]] std::string variable(std::string_view module, std::uint64_t offset);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}
