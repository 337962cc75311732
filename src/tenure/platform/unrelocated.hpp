// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Support for calls that arrive before the loader has relocated this library: from the resolver of an indirect
/// function in a library that is relocated earlier. The C library cannot be called then, and no pointer in this
/// library's data is right yet.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Whether the loader has relocated this library. Cost      a load and a compare.
[[nodiscard]] bool is_relocated() noexcept;

/// Maps usable pages with a raw system call. nullptr on failure, and on processors whose system calls are unknown here.
[[nodiscard]] void* map_unrelocated(std::size_t bytes) noexcept;

}
