// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Build-time configuration: version, check level, export and thread-local attributes.
///
/// Besides platform/ and the C headers, only this file has preprocessor conditions. Other code uses the constants here.

#include <cstddef>
#include <cstdint>

#if __cplusplus < 202002L
#    error "Tenure needs C++20: compile with -std=c++20 or newer"
#endif

#define TENURE_VERSION_MAJOR 0
#define TENURE_VERSION_MINOR 1
#define TENURE_VERSION_PATCH 0

// The CMake target or the pkg-config file sets the check level. A plain include gets level 0.
#ifndef TENURE_CHECKS
#    define TENURE_CHECKS 0
#endif

// Objects of different minor versions or check levels must not link: the inline namespace's name contains both.
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

// Users of libtenure.so define TENURE_SHARED. Static copies are compiled with hidden visibility, so that every plug-in
// keeps its own copy. Classes set no visibility themselves: a hidden class would force its users' classes to be hidden.
#if defined(TENURE_SHARED) || defined(TENURE_BUILDING_SHARED)
#    define TENURE_API __attribute__((visibility("default")))
#else
#    define TENURE_API
#endif

// For the objects that debuggers look for (base/debug_layout.hpp), which the drop-in exports as well.
#if defined(TENURE_SHARED) || defined(TENURE_BUILDING_SHARED) || defined(TENURE_DROPIN)
#    define TENURE_DEBUG_API __attribute__((visibility("default")))
#else
#    define TENURE_DEBUG_API
#endif

// For inline functions that touch per-module state (thread-local state, tables of pools): the dynamic linker must not
// merge the copies that two modules emit.
#define TENURE_LOCAL __attribute__((visibility("hidden")))

// The tokens that a macro expands to, as a string literal.
#define TENURE_TEXT_OF(tokens) #tokens
#define TENURE_TEXT(tokens) TENURE_TEXT_OF(tokens)

// Initial-exec: two instructions from any module. A Temp allocation takes 1.3 ns, against 5 ns with general-dynamic.
// The model uses the static thread-local block, so the library's thread-local state is less than 512 bytes in total.
#define TENURE_THREAD_LOCAL constinit thread_local
#define TENURE_TLS_MODEL __attribute__((tls_model("initial-exec")))

#define TENURE_NOINLINE __attribute__((noinline))
#define TENURE_ALWAYS_INLINE __attribute__((always_inline)) inline
#define TENURE_COLD __attribute__((cold, noinline))

// Places a zeroed static object behind the others, in the order of the ranks 1 to 9, so that those a process touches at
// its start share few OS pages. The drop-in's linker sorts sections by name.
#define TENURE_BEHIND_OTHERS(rank) __attribute__((section(".bss.z" #rank)))

// Makes the linker keep an object that only other programs read, wherever it keeps the function around this.
#define TENURE_KEEP(object) __asm__ volatile("" : : "r"(&(object)))

// Hides the variable's value from the optimiser from here on.
#define TENURE_OPAQUE(variable) __asm__("" : "+r"(variable))

// musl has no room for initial-exec variables of a library that is loaded into a running program, and refuses it. There
// the library uses TLS descriptors (cmake/library.cmake), and programs what their linker makes of them.
#if defined(__linux__)
#    include <features.h>
#    if !defined(__GLIBC__)
#        undef TENURE_TLS_MODEL
#        define TENURE_TLS_MODEL
#    endif
#endif

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

/// Whether this is a ThreadSanitizer build. It misses the order created by fences and by accesses of other widths.
constexpr bool thread_sanitizer = TENURE_THREAD_SANITIZER != 0;

/// What the drop-in malloc separates: dropin/detail/advice.hpp.
enum class advised_calls { none, those_of_the_file, all };
#if defined(TENURE_ADVISED_ALL)
constexpr advised_calls advised = advised_calls::all; // for tests
#elif defined(TENURE_ADVISED)
constexpr advised_calls advised = advised_calls::those_of_the_file;
#else
constexpr advised_calls advised = advised_calls::none;
#endif
constexpr bool is_advised = advised != advised_calls::none;

/// The check levels as constants; `if constexpr (checks::caller)` costs nothing where it is off.
namespace checks {
constexpr int level = TENURE_CHECKS;
/// Double free, foreign pointers, use after free: fills, poison, a record per block where needed.
constexpr bool caller = level >= 1;
/// Internal invariants, one compare each.
constexpr bool invariants = level >= 2;
/// Whole-structure validators at the entry of slow paths.
constexpr bool structures = level >= 3;
}

/// Fill byte for freed and rewound memory in checked builds. Read as a pointer, the fill is odd and non-canonical.
constexpr unsigned char freed_fill = 0xDF;

/// Cache line size. Shared data is separated by it (x86 fetches pairs of lines together).
constexpr std::size_t cache_line_bytes = 64;

/// The largest object is half the address space, as in the standard library.
constexpr std::size_t max_object_bytes = PTRDIFF_MAX;

}
