// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Looks up functions by name at run time.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// The next definition of the symbol in the loader's order after this library: an interposing library calls the
/// original through it. nullptr when there is none. Cost      microseconds; takes the loader's lock.
[[nodiscard]] TENURE_API void* next_symbol(const char* name) noexcept;

/// A symbol of an already loaded library, given the library's file name; nullptr when the library is not loaded or has
/// no such symbol. The library stays loaded.
[[nodiscard]] TENURE_API void* symbol_of_loaded(const char* library, const char* name) noexcept;

/// A function that the C library exports, of any version, also one that it keeps for its own libraries: a reference to
/// such a name would tie this library to one release of the C library in the eyes of package managers. nullptr where
/// the C library has no such function, chooses it by the processor, or the system cannot tell. Cost      microseconds;
/// takes no lock and does not allocate.
[[nodiscard]] TENURE_API void* symbol_of_c_library(const char* name) noexcept;

/// Whether code at this address may be part of the C library, of the loader or of this library itself: a function that
/// was called from there may run under locks of the C library. True where the system cannot tell.
/// Cost      some 100 ns; takes no lock and does not allocate.
[[nodiscard]] TENURE_API bool may_be_system_code(const void* code) noexcept;

}
