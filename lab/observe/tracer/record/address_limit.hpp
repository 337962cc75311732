// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the recorder may map where the program's addresses are limited (ulimit -v): the program needs the rest.

#include <cstddef>

namespace tenure::lab::tracer {

/// Notes that the recorder maps so many bytes more. It takes at most a quarter of what the limit leaves the program.
/// Returns   false, and errno ENOMEM, if that is too much: some milliseconds later it may not be.
/// Threads   any.
[[nodiscard]] bool may_take_addresses(std::size_t bytes) noexcept;
/// Notes that the recorder has unmapped them, or has not mapped them.
void return_addresses(std::size_t bytes) noexcept;

}
