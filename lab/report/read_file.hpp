// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads a whole foreign file: only a regular file, and only up to a size limit.

#include <cstdint>
#include <filesystem>
#include <string>

namespace tenure::lab {

/// The text of a file, or the reason for its absence.
struct file_text {
    std::string text;
    std::string error; ///< empty when `text` is valid; otherwise the end of a sentence that begins with the file's name

    [[nodiscard]] bool ok() const { return error.empty(); }
};

/// Fails     for a directory, a device, a pipe or a socket, without blocking; for a file of more than `max_bytes`.
[[nodiscard]] file_text read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

}
