// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A file that is written at once and appears whole, and files that are read in parts. Nothing allocates.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Writes to `PATH.part`, which only the user can read. finish() gives it its name, and replaces a file of that name.
/// Otherwise nothing is left. A device, a pipe or a folder of that name is refused.
///
/// Threads   one at a time.
class TENURE_API output_file {
public:
    static constexpr std::size_t max_path_bytes = 4000;

    explicit output_file(std::string_view path) noexcept;
    ~output_file();
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    /// A failure is remembered, and further calls do nothing.
    void write(const void* data, std::size_t bytes) noexcept;
    /// Returns   whether all was written and the file has its name.
    [[nodiscard]] bool finish() noexcept;

private:
    char name_[max_path_bytes];
    char path_[max_path_bytes]; ///< while it is being written
    int file_ = -1;
    bool is_sound_ = false;
};

/// Calls `visit` with one part of the file after another. Does not wait for who writes into a pipe.
/// Returns   whether it could be read to its end, and that has come before `max_bytes`.
[[nodiscard]] TENURE_API bool read_in_parts(const char* path, char* buffer, std::size_t capacity,
                                            void (*visit)(void* context, std::string_view part) noexcept, void* context,
                                            std::size_t max_bytes = SIZE_MAX) noexcept;

/// Milliseconds since the begin of 1970. Cost      about 20 ns.
[[nodiscard]] TENURE_API std::uint64_t unix_ms() noexcept;

/// The files in which the system describes this process: its mappings, these with what is in memory, and its command
/// line.
TENURE_API extern const char* const mappings_file;
TENURE_API extern const char* const memory_file;
TENURE_API extern const char* const arguments_file;

}
