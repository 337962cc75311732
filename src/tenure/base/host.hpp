// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What base needs from the operating system. Declared here and defined in platform/, so that base includes nothing of
/// it: the linker joins them.

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::host {

/// Writes to standard error without allocating.
void write_report(std::string_view text) noexcept;

/// Fills `frames` with return addresses of the calling thread, the caller's first, and returns how many.
/// Cost      microseconds; allocates nothing after its first call.
std::size_t walk_stack(void** frames, std::size_t capacity) noexcept;

/// Writes one line per frame to standard error: module, nearest exported function, offset.
void write_stack(void* const* frames, std::size_t count) noexcept;

}
