// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Names frames after the program has ended: functions, including inlined ones, files and lines (elfutils' libdw), and
/// code that a runtime generated (perf maps).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::lab {

struct named_frame {
    std::string function; ///< the compiler's spelling, with arguments; empty: not known
    std::string file;     ///< empty: not known
    int line = 0;
    std::string module; ///< file that contains the code; empty for code generated at run time
    std::uint64_t offset = 0;
    bool is_inlined = false; ///< into the following frame
    std::uint64_t start = 0; ///< of a function that is not inlined: where its code begins; 0: not known
};

/// "draw(int)", or "libfoo.so+0x12af" when the name is not known.
[[nodiscard]] std::string shown(const named_frame& frame);
/// "scene.cpp:120", or empty.
[[nodiscard]] std::string shown_place(const named_frame& frame);

class symbols {
public:
    symbols();
    ~symbols();
    symbols(const symbols&) = delete;
    symbols& operator=(const symbols&) = delete;

    /// Returns   the frames at an offset in a file: the innermost inlined function first, the real function last; never
    /// empty. `is_return`: the address is a return address, so the call before it is named.
    [[nodiscard]] const std::vector<named_frame>& at(std::string_view module, std::uint64_t offset, bool is_return);
    /// The same for an address of a process that is in no module.
    [[nodiscard]] const std::vector<named_frame>& made_at_run_time(std::uint32_t process, std::uint64_t address);
    /// The build ID of a file, in hex digits; empty when it has none or cannot be read.
    [[nodiscard]] std::string build_id(std::string_view module);
    /// The variable at an offset; empty when there is none.
    [[nodiscard]] std::string variable(std::string_view module, std::uint64_t offset);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}
