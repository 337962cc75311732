// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reports of buffer misuse.

#include <cstddef>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>

namespace tenure::inline TENURE_ABI::detail {

// There is no element to return, so these functions end the program, even if a report handler returns.
// `memory` is nullptr for a buffer that never had any.
[[noreturn]] TENURE_API TENURE_COLD void end_for_stale_buffer(const void* memory) noexcept;
[[noreturn]] TENURE_API TENURE_COLD void end_for_index(const void* memory, std::size_t index,
                                                       std::size_t count) noexcept;
[[noreturn]] TENURE_API TENURE_COLD void end_for_slice(const void* memory, std::size_t first, std::size_t count,
                                                       std::size_t size) noexcept;

/// Reports an owner that ends while other code holds its memory. The memory is not freed.
TENURE_API TENURE_COLD void report_held_at_end(const void* memory, std::size_t holders) noexcept;

}
