// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The only exception of this library. The standard library and operator new require it when out of memory.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// Throws std::bad_alloc. Only adaptors and operator new call it; everything else returns nullptr.
[[noreturn]] TENURE_API TENURE_COLD void throw_bad_alloc();

}
