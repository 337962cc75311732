// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A thread-local pointer that can be read before the loader has relocated the library; it is then nullptr.
///
/// A library reaches its thread-local state at the thread pointer plus an offset, which the loader writes when it
/// relocates the library and which is zero before. Through an ordinary variable, an early access would reach what the C
/// library keeps at the thread pointer. This pointer is at a fixed distance from a symbol instead. An early access then
/// reaches that distance from the thread pointer, where the thread-local blocks of the program and its libraries begin:
///
///     x86-64     | ... | second block | first block | (thread pointer) C library       distance -8
///     AArch64    (thread pointer) 16 bytes of the C library | first block | ...        distance 16
///
/// That place is zero until everything is relocated: docs/decisions/0027-an-early-pointer-reads-as-null.md says why.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

#if defined(_WIN32)
// The system relocates a library before any of its code runs.
TENURE_DECLARE_THREAD_LOCAL(void*, untyped_early_pointer)

template<class T>
[[nodiscard]] TENURE_ALWAYS_INLINE T*& early_pointer() noexcept {
    return *static_cast<T**>(static_cast<void*>(&untyped_early_pointer()));
}
#else
#    if defined(__x86_64__)
constexpr std::ptrdiff_t early_pointer_distance = -8;
#    elif defined(__aarch64__)
constexpr std::ptrdiff_t early_pointer_distance = 16;
#    else
constexpr std::ptrdiff_t early_pointer_distance = 0; // not nullptr before relocation
#    endif

/// Not an object: the pointer is at the distance from here. Defined in assembly: a variable's symbol is its start.
extern TENURE_API TENURE_THREAD_LOCAL unsigned char early_pointer_origin TENURE_TLS_MODEL;

/// The calling thread's pointer; every copy of the library has one. nullptr in a new thread.
/// Cost      an address known at load; nothing more than a thread-local variable.
template<class T>
[[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE T*& early_pointer() noexcept {
    const std::uintptr_t origin = address_of(&early_pointer_origin);
    return *static_cast<T**>(pointer_at(origin + static_cast<std::uintptr_t>(early_pointer_distance)));
}
#endif

}
