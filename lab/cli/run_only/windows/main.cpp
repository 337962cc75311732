// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The `tenure` command on Windows. Arguments are UTF-8 from here on.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <tenure/platform/windows/imports/started_program.hpp>

#include "cli/command_line.hpp"
#include "cli/last_resort.hpp"

extern "C" int wmain(int count, wchar_t** arguments);
extern "C" int wmain(int count, wchar_t** arguments) {
    return tenure::lab::run_and_tell([&] {
        constexpr std::size_t max_bytes = std::size_t{3} * 32'768; // of a whole command line
        std::vector<char> text(max_bytes);
        std::vector<std::string> words;
        for (int each = 0; each < count; ++each)
            words.emplace_back(tenure::platform::argument_text(arguments[each], text));
        std::vector<char*> pointers;
        for (std::string& each : words) pointers.push_back(each.data());
        return tenure::lab::run_command_line(count, pointers.data());
    });
}
