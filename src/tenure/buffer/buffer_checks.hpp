// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a buffer says when it is used wrongly. Private to this room.

#include <cstddef>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>

namespace tenure::inline TENURE_ABI::detail {

// An element that is not there cannot be returned, so that these end the program, also when a report handler returns.
// A null `memory` is that of a buffer that never had any.
[[noreturn]] TENURE_API TENURE_COLD void end_for_stale_buffer(const void* memory) noexcept;
[[noreturn]] TENURE_API TENURE_COLD void end_for_index(const void* memory, std::size_t index,
                                                       std::size_t count) noexcept;
[[noreturn]] TENURE_API TENURE_COLD void end_for_slice(const void* memory, std::size_t first, std::size_t count,
                                                       std::size_t size) noexcept;

/// An owner's memory is held by somebody else when the owner ends: it stays, and is not given back.
TENURE_API TENURE_COLD void report_held_at_end(const void* memory, std::size_t holders) noexcept;

}
