// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The observer interface: tells a library that interposes malloc of the program's no-allocation scopes, no-wait
/// scopes, regions, marks and frames.
///
/// An observer exports an object of type tenure_observer_table under the C name `tenure_observer` from a library that
/// is loaded before the program's first scope:
///
///     extern "C" __attribute__((visibility("default"))) const tenure_observer_table tenure_observer = {...};
///
/// Each copy of Tenure looks for it once, with dlsym(RTLD_DEFAULT), at its first scope, mark or frame. Only the first
/// library in the loader's order that exports the name is the observer. Tables that end before `no_wait_begin` receive
/// no-wait scopes as no-allocation scopes. Shorter tables and other versions are ignored.
///
/// The functions are called on the thread that opens or ends the scope, in program order; every end follows its begin.
/// Any code of a program may call them, so they must neither wait nor throw. Null function pointers are not called.
/// Names are UTF-8, not zero-terminated, and valid only during the call. An observer that identifies a name by its
/// address must also compare its bytes.

#include <cstddef>
#include <cstdint>

struct tenure_observer_table {
    std::uint32_t size;    ///< sizeof(tenure_observer_table) or more: later tables of the same version grow at the end
    std::uint32_t version; ///< tenure_observer_version
    void (*region_begin)(const char* name, std::size_t name_bytes);
    void (*region_end)();
    void (*no_alloc_begin)();
    void (*no_alloc_end)();
    /// Suspends promises made before or within the scope. Also called around the library's internal work while a
    /// promise is active, and around a report together with the rest of the call that violated the promise.
    void (*allow_alloc_begin)();
    void (*allow_alloc_end)();
    void (*mark)(const char* name, std::size_t name_bytes);
    void (*no_wait_begin)();
    void (*no_wait_end)();
    /// next_frame() ended a frame. Called last in it: what it frees is freed before. Tables that end before this member
    /// do not receive frames.
    void (*frame_end)();
};

/// The only version so far.
constexpr std::uint32_t tenure_observer_version = 1;

/// The size of the shortest table that is accepted.
constexpr std::size_t tenure_observer_first_bytes = offsetof(tenure_observer_table, no_wait_begin);
