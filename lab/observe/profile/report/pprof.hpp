// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A heap profile in the format of pprof: profile.proto, compressed with gzip. The kinds of values have the names that
/// Go's heap profiles use: alloc_objects, alloc_space, inuse_objects, inuse_space.

#include <string>

#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

/// The message without compression.
[[nodiscard]] std::string pprof_message(const named_profile& profile);

/// Compresses as `gzip -6` does. Returns   empty when out of memory.
[[nodiscard]] std::string gzipped(const std::string& bytes);

[[nodiscard]] std::string to_pprof(const named_profile& profile);

}
