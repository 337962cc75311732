// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The one exception of this library: what the standard library and operator new ask for when memory is refused.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// Throws std::bad_alloc. Called by adaptors and operator new alone; everything else answers null.
[[noreturn]] TENURE_API TENURE_COLD void throw_bad_alloc();

}
