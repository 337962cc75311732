// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The raw files of a recording, and the processes that write to them.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/trace/trace_format.hpp"

namespace tenure::lab {

inline constexpr std::string_view raw_suffix = ".raw";

/// Calls `visit` with the path and the header of each raw file beside FILE that has this number of a recording. Files
/// of other recordings may have names that begin alike. `is_known`: paths that need not be opened.
void visit_raw_files(const std::string& file, std::uint64_t recording,
                     const std::function<bool(const std::string&)>& is_known,
                     const std::function<void(const std::string&, const trace_format::file_header&)>& visit);

/// Which raw files a process has mapped. The children of its forks inherit the mappings, so the number counts as well,
/// which is that of the process's own namespace in a file.
struct mapped_raw_files {
    int error = 0;                     ///< why that is not known: the system's number
    bool is_running = false;           ///< neither ended nor a zombie
    std::uint64_t own_number = 0;      ///< if it has any mapped
    std::vector<std::uint64_t> inodes; ///< of the files

    [[nodiscard]] bool is_writer(std::uint64_t inode, std::uint64_t number) const;
    [[nodiscard]] bool is_hidden() const; ///< from this user
};
/// `process`: its number here, or "self".
[[nodiscard]] mapped_raw_files mapped_by(const std::string& process);

/// Calls `visit` with the number of each process here, until it returns false.
void visit_processes(const std::function<bool(const std::string&)>& visit);

}
