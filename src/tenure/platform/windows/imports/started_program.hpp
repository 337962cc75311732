// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Runs a program with one more library, for the command.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

enum class program_run : std::uint8_t {
    ended,         ///< `exit_code` is the program's
    not_found,     ///< there is no such program
    not_run,       ///< the system's error says why
    other_machine, ///< it is not for this processor, as one of 32 bits, so it cannot have the library
    not_added,     ///< the library could not be added; the system's error may say why
};
struct run_result {
    program_run how;
    std::uint32_t exit_code = 0, error = 0;
};

/// Runs a program with the console, the handles and the environment of this process, and waits for its end. Ctrl-C is
/// left to the program. `line` is the command line in UTF-8, with quotes as the system's programs read them. `library`
/// is the path of the library, see add_import(); empty: none.
[[nodiscard]] run_result run_program(std::string_view line, std::string_view library) noexcept;

/// The path of a file in the folder of this program, in UTF-8; empty if it is too long.
[[nodiscard]] std::string_view file_beside_program(std::string_view name, std::span<char> path) noexcept;

/// The system's words for an error, without the end of the line; empty if it has none.
[[nodiscard]] std::string_view words_for_error(std::uint32_t error, std::span<char> text) noexcept;

/// An argument of this process in UTF-8; empty past the last one, or if it does not fit.
[[nodiscard]] std::string_view argument_text(const wchar_t* argument, std::span<char> text) noexcept;

}
