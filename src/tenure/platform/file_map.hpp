// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory that is a file's: it may be more than the machine has, and outlive the process where the file has a name.

#include <cstddef>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Maps the first `bytes` of a file, shared with whoever else maps it. A file that is not there is made; one that is
/// shorter becomes so long, with zeros; one that is longer stays so. Null for `path`: a file without a name in the
/// folder that TMPDIR names, else in /var/tmp, which is a disk's where /tmp may be memory; it goes with the mapping.
///
/// A disk that is full is told at the first touch, by a fault (SIGBUS), and not by a refusal.
/// Requires  `bytes` is not zero.
/// Returns   null, with the reason in `why`: file_error or out_of_memory (addresses).
[[nodiscard]] TENURE_API void* map_file(const char* path, std::size_t bytes, status& why) noexcept;

/// Takes back what map_file() gave. What was written reaches the file in the system's own time.
TENURE_API void unmap_file(void* memory, std::size_t bytes) noexcept;

}
