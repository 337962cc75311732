// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How the parts of a process's resident memory change: from several heap profiles that it has saved with their pages.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tenure/base/profile_format.hpp>

#include "observe/pins/pinned_memory.hpp"
#include "observe/profile/saved_profile.hpp"

namespace tenure::lab {

/// What one file says.
struct memory_moment {
    std::string file;
    std::uint64_t saved_ms = 0; ///< since 1970
    std::uint64_t started_ms = 0;
    profile_format::occasion written_at{};
    memory_parts parts;
    std::string malloc_file; ///< as in a saved profile: the parts have other names then
    std::string map;         ///< as HTML; empty: there is none for this file
};

/// In the order of time.
struct memory_course {
    std::vector<memory_moment> moments;
    [[nodiscard]] bool is_shown() const { return moments.size() > 1; }
    /// Since the profile of the first file began.
    [[nodiscard]] std::uint64_t age_ms(const memory_moment& of) const;
};

/// Requires  `saved` has pages and is ok.
[[nodiscard]] memory_moment moment_of(const saved_profile& saved, const std::string& file);

/// Adds a moment, in its place.
void add(memory_course& to, memory_moment moment);

/// Which of so many files have a map: at most `most`, at equal distances, with the first and the last.
[[nodiscard]] bool has_map(std::size_t index, std::size_t count, std::size_t most = 24);

}
