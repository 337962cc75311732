// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Support for calls that arrive before the loader has relocated this library. The C library cannot be called then, and
/// no pointer stored in the library's data is right yet. Such calls come from the resolver of an indirect function in a
/// library that is relocated earlier.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Whether the loader has relocated this library. Cost      a load and a compare.
[[nodiscard]] bool is_relocated() noexcept;

/// Maps usable pages with a raw system call. nullptr on failure, and on processors whose system call convention is not
/// known here.
[[nodiscard]] void* map_unrelocated(std::size_t bytes) noexcept;

}
