// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How a program's promises not to allocate and its marked regions reach whoever stands in for malloc in its process.
///
/// Whoever wants to hear them exports an object of type tenure_observer_table under the C name `tenure_observer` from a
/// library that is loaded before the program's first scope:
///
///     extern "C" __attribute__((visibility("default"))) const tenure_observer_table tenure_observer = {...};
///
/// Each copy of the library looks for it once, by dlsym(RTLD_DEFAULT), at its first scope or mark. The first library
/// in the loader's order that exports it is the only one that hears. A table of another version, or a shorter one, is
/// not looked at further.
///
/// The functions are called on the thread that opens or ends the scope, in the order in which it does so; every end has
/// had its begin. They may be called from anywhere in a program, so they must neither wait nor throw. A null function
/// is not called. Names are UTF-8 without a zero at the end, and valid during the call only: whoever knows one again by
/// its address compares its bytes as well.

#include <cstddef>
#include <cstdint>

struct tenure_observer_table {
    std::uint32_t size; ///< sizeof(tenure_observer_table), or more: later versions of the same number grow at the end
    std::uint32_t version; ///< tenure_observer_version
    void (*region_begin)(const char* name, std::size_t name_bytes);
    void (*region_end)();
    void (*no_alloc_begin)();
    void (*no_alloc_end)();
    /// Inside, promises do not count, whether they were made before it or within. Also called around what the library
    /// does for itself while a promise is kept, and around a report with the rest of the call that broke the promise.
    void (*allow_alloc_begin)();
    void (*allow_alloc_end)();
    void (*mark)(const char* name, std::size_t name_bytes);
};

/// The only version there is.
constexpr std::uint32_t tenure_observer_version = 1;
