// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Functions that are found by name while the program runs.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// The symbol as the libraries behind this one define it: what a library that stands in for another calls on. Null when
/// there is none. Cost      microseconds, with the loader's lock.
[[nodiscard]] TENURE_API void* next_symbol(const char* name) noexcept;

/// A symbol of a library that the process has loaded already, by the file name that it is known by; null when the
/// library is not there or has no such symbol. The library stays loaded.
[[nodiscard]] TENURE_API void* symbol_of_loaded(const char* library, const char* name) noexcept;

}
