// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The raw files that the processes of a recording have left, and how they are packed.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenure::lab {

struct raw_file {
    std::string path;
    std::uint32_t process = 0;
    bool is_main = false;    ///< of the process that the command has started, before exec
    bool is_growing = false; ///< a process still writes to it
};

/// Those with this number of a recording, the main file first. Files of other recordings may have names that begin
/// alike.
[[nodiscard]] std::vector<raw_file> raw_files_of(const std::string& file, std::uint64_t recording);

struct packing {
    std::string path;    ///< of the packed file
    std::string error;   ///< a sentence without its full stop; empty when the raw file has been packed and removed
    std::string program; ///< its name, without its folder; empty: not known
};
/// Packs a file, chunk by chunk. The main file's packed file replaces one of its name; others get a name that is free.
/// `accesses`: payloads of chunks that are added.
[[nodiscard]] packing pack(const raw_file& raw, std::span<const std::string> accesses = {});

}
