// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A heap profile with pages, made from a core file: what a process with Tenure's process heap would have saved when it
/// ended.

#include <memory>
#include <string>

#include "observe/cores/core_file.hpp"
#include "observe/profile/saved_profile.hpp"

namespace tenure::lab {

/// Reads a core file. `program`: the program's file, where it is elsewhere than when it ran; empty: where it was.
/// Returns   a profile whose `error` begins with the file's name, or is empty. `from_core.is_set` is true.
/// Cost      reads all of the file once.
[[nodiscard]] saved_profile load_core(const std::string& path, const std::string& program);

/// The same for bytes. `open` opens mapped files.
[[nodiscard]] saved_profile read_core(std::unique_ptr<core_bytes> bytes, const std::string& program,
                                      core_file::file_opener open);

}
