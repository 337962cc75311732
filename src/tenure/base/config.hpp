// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Build-time configuration: version, check level, export and thread-local attributes.
///
/// Besides platform/ and the C headers, only this file and compiler.hpp have preprocessor conditions, and words of
/// compilers. Other code uses the constants and names here.

#include <cstddef>
#include <cstdint>
#if defined(_MSC_VER) && !defined(__clang__)
#    include <intrin.h>
#endif

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
#if defined(_WIN32) && defined(TENURE_SHARED) && defined(TENURE_BUILDING)
#    define TENURE_API __declspec(dllexport)
// GCC and Clang for mingw find what is imported by themselves, and warn of inline members of imported classes.
#elif defined(_WIN32) && defined(TENURE_SHARED) && defined(_MSC_VER)
#    define TENURE_API __declspec(dllimport)
#elif defined(_WIN32)
#    define TENURE_API
#elif defined(TENURE_SHARED) || defined(TENURE_BUILDING_SHARED)
#    define TENURE_API __attribute__((visibility("default")))
#else
#    define TENURE_API
#endif

// For the objects that debuggers look for (base/debug_layout.hpp), which the drop-in exports as well.
#if defined(_WIN32)
#    define TENURE_DEBUG_API TENURE_API
#elif defined(TENURE_SHARED) || defined(TENURE_BUILDING_SHARED) || defined(TENURE_DROPIN)
#    define TENURE_DEBUG_API __attribute__((visibility("default")))
#else
#    define TENURE_DEBUG_API
#endif

// For inline functions that touch per-module state (thread-local state, tables of pools): the dynamic linker must not
// merge the copies that two modules emit. Windows never does.
#if defined(_WIN32)
#    define TENURE_LOCAL
#else
#    define TENURE_LOCAL __attribute__((visibility("hidden")))
#endif

// For what other modules look up by its name, also in a library that shows nothing else.
#if defined(_WIN32)
#    define TENURE_VISIBLE
#else
#    define TENURE_VISIBLE __attribute__((visibility("default")))
#endif

// The tokens that a macro expands to, as a string literal.
#define TENURE_TEXT_OF(tokens) #tokens
#define TENURE_TEXT(tokens) TENURE_TEXT_OF(tokens)

// Thread-local variables: name() is the calling thread's. DECLARE stands in a header and DEFINE in one source; OWN is
// for a variable of one source. All start with their type's default value.
//
// Initial-exec: two instructions from any module. A Temp allocation takes 1.3 ns, against 5 ns with general-dynamic.
// The model uses the static thread-local block, so the library's thread-local state is less than 512 bytes in total.
#if !defined(_WIN32)
#    if defined(__GNUC__) && !defined(__clang__)
// UndefinedBehaviorSanitizer compares the address of each reference with null. GCC takes the result from the
// processor's flags after the addition that forms the address, and the linker turns that addition into an instruction
// that sets no flags: a false report. GCC also keeps the address across calls, in which a fiber may change its thread.
// Neither happens to what a function returns. The condition is false where null pointers are not checked.
#        define TENURE_RETURN_CHECKED_THREAD_LOCAL(name)                                                               \
            if (!__builtin_constant_p(&name##_variable == nullptr)) return *[]() __attribute__((noinline)) {           \
                    auto* address = &name##_variable;                                                                  \
                    __asm__ volatile("" : "+r"(address));                                                              \
                    return address;                                                                                    \
                }                                                                                                      \
            ();
#    else
#        define TENURE_RETURN_CHECKED_THREAD_LOCAL(name)
#    endif
#    define TENURE_THREAD_LOCAL constinit thread_local
#    define TENURE_TLS_MODEL __attribute__((tls_model("initial-exec")))
#    define TENURE_DECLARE_THREAD_LOCAL(type, name)                                                                    \
        extern TENURE_API TENURE_THREAD_LOCAL type name##_variable TENURE_TLS_MODEL;                                   \
        [[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE type& name() noexcept {                                        \
            TENURE_RETURN_CHECKED_THREAD_LOCAL(name) return name##_variable;                                           \
        }
#    define TENURE_DEFINE_THREAD_LOCAL(type, name) TENURE_THREAD_LOCAL type name##_variable{};
#    define TENURE_OWN_THREAD_LOCAL(type, name)                                                                        \
        TENURE_THREAD_LOCAL type name##_variable{};                                                                    \
        [[nodiscard, maybe_unused]] TENURE_ALWAYS_INLINE type& name() noexcept {                                       \
            TENURE_RETURN_CHECKED_THREAD_LOCAL(name) return name##_variable;                                           \
        }
#else
// Not the compiler's thread_local: a library cannot export it, and GCC emulates it with malloc and a call per access,
// and destroys it before the thread's end is announced. The variables lie in one section. Each thread gets a copy of
// it, and one slot of the system (TlsAlloc) holds the distance from the section to the copy:
// platform/windows/thread_copies.cpp.
#    define TENURE_DECLARE_THREAD_LOCAL(type, name)                                                                    \
        extern TENURE_API type name##_variable;                                                                        \
        [[nodiscard]] TENURE_ALWAYS_INLINE type& name() noexcept {                                                     \
            return ::tenure::detail::copy_of_this_thread(name##_variable);                                             \
        }
#    define TENURE_DEFINE_THREAD_LOCAL(type, name) TENURE_IN_SECTION(".tn$m") constinit type name##_variable{};
#    define TENURE_OWN_THREAD_LOCAL(type, name)                                                                        \
        TENURE_IN_SECTION(".tn$m") constinit type name##_variable{};                                                   \
        [[nodiscard, maybe_unused]] TENURE_ALWAYS_INLINE type& name() noexcept {                                       \
            return ::tenure::detail::copy_of_this_thread(name##_variable);                                             \
        }
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#    define TENURE_NOINLINE __declspec(noinline)
#    define TENURE_ALWAYS_INLINE __forceinline
#    define TENURE_COLD __declspec(noinline)
#    define TENURE_IN_SECTION(name) __pragma(section(name, read, write)) __declspec(allocate(name))
#    define TENURE_RETURN_ADDRESS() _ReturnAddress()
#    define TENURE_THIS_SIGNATURE __FUNCSIG__
#    define TENURE_FORMAT(text, first)
#    define TENURE_KEEP(object) static_cast<void>(const_cast<const volatile void*>(static_cast<const void*>(&(object))))
#    define TENURE_OPAQUE(variable) static_cast<void>(0)
#    define TENURE_ALIAS(type, name, target)                                                                           \
        __pragma(comment(linker, "/alternatename:" #name "=" #target)) extern "C" type name
#else
#    define TENURE_NOINLINE __attribute__((noinline))
#    define TENURE_ALWAYS_INLINE __attribute__((always_inline)) inline
#    define TENURE_COLD __attribute__((cold, noinline))
#    define TENURE_IN_SECTION(name) __attribute__((section(name)))
// The position in the caller of this function.
#    define TENURE_RETURN_ADDRESS() __builtin_return_address(0)
// The function's text, with its template arguments.
#    define TENURE_THIS_SIGNATURE __PRETTY_FUNCTION__
// Makes the linker keep an object that only other programs read, wherever it keeps the function around this.
#    define TENURE_KEEP(object) __asm__ volatile("" : : "r"(&(object)))
// Hides the variable's value from the optimiser from here on.
#    define TENURE_OPAQUE(variable) __asm__("" : "+r"(variable))
// Declares another name of an object of C linkage, which this source defines.
#    define TENURE_ALIAS(type, name, target) extern "C" __attribute__((alias(#    target))) type name
// The parameter `text`, counted from 1, is a format of printf for those from `first` on; zero: a list. mingw's own kind
// knows no %zu.
#    if defined(__MINGW32__) && !defined(__clang__)
#        define TENURE_FORMAT(text, first) __attribute__((format(gnu_printf, text, first)))
#    else
#        define TENURE_FORMAT(text, first) __attribute__((format(printf, text, first)))
#    endif
#endif

// Places a zeroed static object behind the others, in the order of the ranks 1 to 9, so that those a process touches at
// its start share few OS pages. The drop-in's linker sorts sections by name.
#if defined(_WIN32)
#    define TENURE_BEHIND_OTHERS(rank)
#else
#    define TENURE_BEHIND_OTHERS(rank) TENURE_IN_SECTION(".bss.z" TENURE_TEXT(rank))
#endif

// Functions that run when the module is loaded, before its constructors, and when it is unloaded or the process ends,
// after its destructors: TENURE_AT_LOAD(name) { … }.
#if defined(_MSC_VER) && !defined(__clang__)
#    define TENURE_AT_LOAD(name)                                                                                       \
        void name() noexcept;                                                                                          \
        __pragma(section(".CRT$XCT", read)) __declspec(allocate(".CRT$XCT")) extern void (*const name##_at_load)() =   \
            &name;                                                                                                     \
        void name() noexcept
#    define TENURE_AT_UNLOAD(name)                                                                                     \
        void name() noexcept;                                                                                          \
        __pragma(section(".CRT$XTT", read)) __declspec(allocate(".CRT$XTT")) extern void (*const name##_at_unload)() = \
            &name;                                                                                                     \
        void name() noexcept
#else
#    define TENURE_AT_LOAD(name) __attribute__((constructor(101))) void name() noexcept
#    define TENURE_AT_UNLOAD(name) __attribute__((destructor(101))) void name() noexcept
// Among the constructors and destructors of the module's objects: for the drop-in, which has none.
#    define TENURE_AMONG_CONSTRUCTORS(name) __attribute__((constructor)) void name() noexcept
#    define TENURE_AMONG_DESTRUCTORS(name) __attribute__((destructor)) void name() noexcept
#endif

// musl has no room for initial-exec variables of a library that is loaded into a running program, and refuses it. glibc
// has little, which TLS descriptors of other libraries, the default on 64-bit Arm, use up: in a .NET process there was
// none left. There the library uses TLS descriptors too (cmake/library.cmake), and programs what their linker makes of
// them.
#if defined(__linux__)
#    include <features.h>
#    if !defined(__GLIBC__) || defined(__aarch64__)
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

#if defined(_WIN32)
namespace detail {
/// Where the thread control block has the distance from the thread-local variables to the calling thread's copy.
extern TENURE_API std::uint32_t place_of_thread_copy;
/// Makes the calling thread's copy, unless it is there. Returns   the distance.
TENURE_API TENURE_COLD std::uintptr_t make_thread_copy() noexcept;

/// Reads a word of the thread control block.
[[nodiscard]] TENURE_ALWAYS_INLINE std::uintptr_t thread_block_word(std::uintptr_t offset) noexcept {
#    if defined(_MSC_VER) && !defined(__clang__)
    return __readgsqword(static_cast<unsigned long>(offset));
#    else
    std::uintptr_t word;
    __asm__("movq %%gs:(%1), %0" : "=r"(word) : "r"(offset));
    return word;
#    endif
}

/// Three loads and a branch.
template<class T>
[[nodiscard]] TENURE_ALWAYS_INLINE T& copy_of_this_thread(T& variable) noexcept {
    std::uintptr_t distance = thread_block_word(place_of_thread_copy);
    if (distance == 0) [[unlikely]]
        distance = make_thread_copy();
    return *reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(&variable) + distance);
}
}
#endif

}
