// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes what a heap profile has recorded to a file (base/profile_format.hpp). Allocates nothing.

#include <cstdint>
#include <span>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/profile_format.hpp>
#include <tenure/heap/detail/profile/profile_records.hpp>

namespace tenure::inline TENURE_ABI::detail {

class section_writer;

struct profile_moment {
    std::uint64_t mean_bytes;
    std::uint64_t started_ms;
    profile_format::occasion occasion;
    std::span<const profile_format::size_class> classes;
    std::span<const profile_format::size_class> classes_before; ///< empty: not comparable with the samples
    /// Writes the sections that say what OS pages are used for; nullptr: the file does not say so.
    void (*write_pages)(section_writer& to) noexcept;
};

/// Cost      O(sites + frames + live samples + mappings), and O(OS pages of the heap) if these are written; under the
/// records' lock: recorded allocations of other
///           threads wait meanwhile. Its buffers are static, because signal handlers have small stacks.
/// Requires  one thread at a time.
/// Returns   false if the file could not be written.
[[nodiscard]] bool write_profile(profile_records& records, const profile_moment& moment,
                                 std::string_view path) noexcept;

}
