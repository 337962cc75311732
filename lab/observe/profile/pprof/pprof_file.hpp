// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads heap profiles in pprof's format, compressed with gzip: ours, Go's, and those of others with the same kinds of
/// values. The file may be damaged or made by somebody else: each number in it is checked before it is used.

#include <cstddef>
#include <string>
#include <string_view>

#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

/// Functions have the names of the file. The format has neither samples nor errors, nor the peak. Both are estimated
/// from the sampling period, for blocks of each stack's mean size; without a period, header.mean_bytes is zero and
/// errors are too.
struct pprof_profile {
    named_profile profile;
    std::string error; ///< empty when all else is valid; otherwise a sentence, without the file's name

    [[nodiscard]] bool ok() const { return error.empty(); }
};

/// Whether the bytes begin as gzip's do.
[[nodiscard]] bool is_gzipped(std::string_view bytes);

/// Refuses what is larger than `max_message_bytes` without compression.
[[nodiscard]] pprof_profile read_pprof(std::string_view bytes, std::size_t max_message_bytes = std::size_t{1} << 30U);
/// The same, not compressed.
[[nodiscard]] pprof_profile read_pprof_message(std::string_view message);

}
