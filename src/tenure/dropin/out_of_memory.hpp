// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What operator new does when the heap has refused. Private to this room.
///
/// There are two of it: the drop-in malloc, which links no C++ runtime, asks the program's; the library that a program
/// links to replace its operators has one.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// Calls the new handler until there is memory or no handler. Returns   a block, or throws what the standard says.
[[nodiscard]] TENURE_COLD void* new_failed(std::size_t bytes, std::size_t alignment);

/// The same for the forms that throw nothing: null where the other throws.
[[nodiscard]] TENURE_COLD void* new_failed_nothrow(std::size_t bytes, std::size_t alignment) noexcept;

}
