// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The out-of-memory path of operator new.
///
/// There are two implementations. The drop-in malloc links no C++ runtime and uses the program's. The library that a
/// program links to replace its operators has its own.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// Calls the new handler until memory is available or no handler is left.
/// Returns   a block, or throws as the standard says.
[[nodiscard]] TENURE_COLD void* new_failed(std::size_t bytes, std::size_t alignment);

/// new_failed() for the nothrow forms: returns nullptr instead of throwing.
[[nodiscard]] TENURE_COLD void* new_failed_nothrow(std::size_t bytes, std::size_t alignment) noexcept;

}
