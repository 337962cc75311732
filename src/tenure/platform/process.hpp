// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The memory of this process as the system reports it.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Bytes of this process that are in memory now; zero if the system does not report it.
/// Cost      microseconds: reads a system file.
[[nodiscard]] TENURE_API std::size_t resident_bytes() noexcept;

/// Maximum resident bytes since the process started or reset_peak_resident() last succeeded.
[[nodiscard]] TENURE_API std::size_t peak_resident_bytes() noexcept;

/// What random words are for. The words for one use say nothing about those for another.
enum class random_use : std::uint8_t { general, marks, canaries, order };
struct random_words {
    std::uint64_t words[4];
};
/// Random words that stay the same while the process runs, also in the children of a fork. They are derived by a
/// one-way function from what the system draws, so they reveal neither the C library's stack protector nor each other.
/// Cost      a system call at the first call, nanoseconds at others.
[[nodiscard]] TENURE_API random_words random_of_process(random_use use) noexcept;
/// The first word for general use. Cost      a load.
[[nodiscard]] TENURE_API std::uint64_t random_of_process() noexcept;
/// Words that differ at each call and in each process. Cost      a system call.
[[nodiscard]] TENURE_API random_words fresh_random() noexcept;

/// Bytes of a range that are in memory now. Cost      a system call per 4 MiB, and the kernel's look-ups.
[[nodiscard]] TENURE_API std::size_t resident_bytes_in(const void* range, std::size_t bytes) noexcept;

/// Whether this process has children for which it has not waited.
[[nodiscard]] TENURE_API bool has_children() noexcept;

/// Page faults of the children for which it has waited, also before it executed its present program. Each has some.
[[nodiscard]] TENURE_API std::uint64_t page_faults_of_children() noexcept;

/// Restarts the peak from the current resident size. Returns whether the system supports it.
TENURE_API bool reset_peak_resident() noexcept;

}
