// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Before the loader has relocated this library nothing of the C library can be called, and no pointer that is stored
/// in the library's data is right yet. Somebody may call it all the same: the resolver of an indirect function of a
/// library that is relocated before it.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Whether the loader has come to this library. Cost      a load and a compare.
[[nodiscard]] bool is_relocated() noexcept;

/// Usable pages, by the kernel's own interface. Null when refused, and on machines whose interface is not known.
[[nodiscard]] void* map_unrelocated(std::size_t bytes) noexcept;

}
