// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is fixed when the library is built: version, check level, export and thread-local attributes.
///
/// This is the only file outside platform/ that asks the preprocessor anything; rooms use the constants below.

#include <cstddef>
#include <cstdint>

#if __cplusplus < 202002L
#    error "Tenure needs C++20: compile with -std=c++20 or newer"
#endif

#define TENURE_VERSION_MAJOR 0
#define TENURE_VERSION_MINOR 1
#define TENURE_VERSION_PATCH 0

// The check level travels with the CMake target or the pkg-config file; 0 is what a plain include gets.
#ifndef TENURE_CHECKS
#    define TENURE_CHECKS 0
#endif

// C++ is inline, so an object of another minor version or check level must not link with this one: both are in the
// name of the inline namespace.
#if TENURE_CHECKS == 0
#    define TENURE_ABI v0_1_checks0
#elif TENURE_CHECKS == 1
#    define TENURE_ABI v0_1_checks1
#elif TENURE_CHECKS == 2
#    define TENURE_ABI v0_1_checks2
#elif TENURE_CHECKS == 3
#    define TENURE_ABI v0_1_checks3
#else
#    error "TENURE_CHECKS is 0 (none), 1 (the caller's mistakes), 2 (our invariants) or 3 (whole structures)"
#endif

// TENURE_SHARED is set for whoever uses libtenure.so. A static copy is compiled with everything hidden, so that every
// plug-in keeps its own; classes say nothing of it, because a hidden class would force its users' classes to be hidden.
#if defined(TENURE_SHARED) || defined(TENURE_BUILDING_SHARED)
#    define TENURE_API __attribute__((visibility("default")))
#else
#    define TENURE_API
#endif

// For inline functions that touch what each module has its own of (thread-local state, tables of pools): the dynamic
// linker must not join the copies that two modules emit.
#define TENURE_LOCAL __attribute__((visibility("hidden")))

// Initial-exec: two instructions from any module, 1.3 ns for a Temp allocation where general-dynamic makes it 5. It
// takes room in the static thread-local block, so all of the library's state together stays under 512 bytes.
#define TENURE_THREAD_LOCAL constinit thread_local
#define TENURE_TLS_MODEL __attribute__((tls_model("initial-exec")))

#define TENURE_NOINLINE __attribute__((noinline))
#define TENURE_ALWAYS_INLINE __attribute__((always_inline)) inline
#define TENURE_COLD __attribute__((cold, noinline))

// The same value, of which the compiler knows nothing from here on.
#define TENURE_OPAQUE(variable) __asm__("" : "+r"(variable))

#if defined(__SANITIZE_THREAD__)
#    define TENURE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        define TENURE_THREAD_SANITIZER 1
#    endif
#endif
#ifndef TENURE_THREAD_SANITIZER
#    define TENURE_THREAD_SANITIZER 0
#endif

namespace tenure::inline TENURE_ABI {

/// Whether ThreadSanitizer watches: it does not see the order that fences and accesses of other widths make.
constexpr bool thread_sanitizer = TENURE_THREAD_SANITIZER != 0;

/// The ladder of checks, as constants; `if constexpr (checks::caller)` costs nothing where it is off.
namespace checks {
constexpr int level = TENURE_CHECKS;
/// Double free, foreign pointers, use after free: fills, poison, a record per block where it needs one.
constexpr bool caller = level >= 1;
/// Our own invariants, each a compare.
constexpr bool invariants = level >= 2;
/// Whole-structure validators at the entry of slow paths.
constexpr bool structures = level >= 3;
}

/// What freed and rewound memory is filled with in checked builds: an odd, non-canonical pointer when read as one.
constexpr unsigned char freed_fill = 0xDF;

/// A cache line, and what shared data is kept apart by (pairs of lines are fetched together on x86).
constexpr std::size_t cache_line_bytes = 64;

/// Objects may not be larger than half the address space, as in the standard library.
constexpr std::size_t max_object_bytes = PTRDIFF_MAX;

}
