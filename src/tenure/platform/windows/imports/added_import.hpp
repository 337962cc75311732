// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Makes a program import one more library: what LD_PRELOAD does elsewhere.
///
/// The import is added in the memory of the new process, in front of the program's own. The loader then loads the
/// library like any other, before any code of the program, of its libraries and of its thread-local callbacks runs. A
/// thread in the process that calls LoadLibrary() would come later: the loader starts the program's libraries first.

#include <cstddef>
#include <cstdint>
#include <span>

#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

enum class added_import : std::uint8_t {
    ok,
    other_machine, ///< the program is not for this processor, as one of 32 bits
    refused,       ///< the system's error says why
};

/// The library exports a function with the ordinal 1. `library` is its path in the code page of the process.
/// Requires  the process was created suspended, and none of its threads has run.
[[nodiscard]] added_import add_import(HANDLE process, const char* library) noexcept;

/// Whether a library was added to this process's program.
[[nodiscard]] bool has_added_import() noexcept;

/// The path of a file in the code page of the process, for add_import().
/// Returns   false if it has letters that the code page lacks, and no short form.
[[nodiscard]] bool import_path(const wchar_t* file, std::span<char> path) noexcept;

}
