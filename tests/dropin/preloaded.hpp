// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the tests of the drop-in share. They run with it preloaded, and say so when it is not.

#include <cstddef>
#include <cstdint>
#include <string>

/// The file that a function of the process comes from, as the loader binds it for everyone.
std::string file_of(const char* function);

/// The file name of the form of the drop-in that is preloaded, as "libtenure_malloc.so"; empty when something else is
/// malloc.
std::string dropin_name();

/// Whether it is a form with checks.
bool is_hardened();

/// Bytes of the process that are in memory now.
std::size_t resident_bytes();

/// Keeps the compiler from knowing what a pointer points to, so that it leaves out no allocation.
void* hidden(void* block);

/// Whether all of a block's bytes are `value`.
bool holds_only(const void* block, unsigned char value, std::size_t bytes);

inline bool is_multiple(const void* block, std::size_t alignment) {
    return (reinterpret_cast<std::uintptr_t>(block) & (alignment - 1)) == 0;
}
