// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the C library of this process tells of itself and of its malloc. One source per C library is built.

#include <string>

#include "bench/harness/mallocs/malloc_calls.hpp"

namespace tenure::lab {

[[nodiscard]] std::string c_library_name(); ///< "glibc 2.36"

/// The C library's own malloc, and the drop-in, which has the same functions beyond the standard's.
[[nodiscard]] const malloc_calls& c_library_calls();
[[nodiscard]] const malloc_calls& drop_in_calls();

/// Calls the process's malloc_trim, if there is one.
void call_malloc_trim();

}
