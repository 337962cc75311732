// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How the C library declares its functions, for those that the library defines in its place.

#include <cstdlib>

// glibc declares its functions as noexcept in C++, others do not. A definition must say the same.
#if defined(__GLIBC__)
#    define TENURE_C_NOEXCEPT noexcept
#else
#    define TENURE_C_NOEXCEPT
#endif
