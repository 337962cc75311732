// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Finds the real functions with dlsym(), which may itself allocate and which looks for malloc.

#include "observe/hook/interpose/real.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "observe/hook/interpose/raw.hpp"
#include "observe/hook/record/recorder.hpp"

namespace tenure::lab::hook {

constinit void* real_functions[call_count] = {};

namespace {

constinit thread_local bool finding = false;
constinit std::size_t early_used = 0;

using symbol_finder = void*(void*, const char*);
constinit symbol_finder* finder = nullptr;

/// Called from the hook, so that RTLD_NEXT means the libraries behind the hook.
[[nodiscard]] void* find_symbol(void* where, const char* symbol) noexcept {
    if (finder == nullptr) static_cast<void>(real_dlsym());
    return finder(where, symbol);
}

void* look_up(const char* symbol) noexcept {
    // The C library has an older version of these for old programs, and dlsym() may return it.
    if (std::strncmp(symbol, "pthread_cond_", 13) == 0) {
        if (void* const found = ::dlvsym(RTLD_NEXT, symbol, "GLIBC_2.3.2")) return found;
    }
    return find_symbol(RTLD_NEXT, symbol);
}

[[noreturn]] void give_up(const char* symbol) noexcept {
    constexpr char text[] = "tenure watch: the program calls a function that none of its libraries has: ";
    raw_call(SYS_write, STDERR_FILENO, reinterpret_cast<long>(text), sizeof text - 1);
    raw_call(SYS_write, STDERR_FILENO, reinterpret_cast<long>(symbol), static_cast<long>(std::strlen(symbol)));
    raw_call(SYS_write, STDERR_FILENO, reinterpret_cast<long>("\n"), 1);
    __builtin_trap();
}

}

alignas(64) constinit unsigned char early_store[early_store_bytes] = {};

void* real_dlsym() noexcept {
    if (finder == nullptr) {
        void* found = ::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (found == nullptr) found = ::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        finder = reinterpret_cast<symbol_finder*>(found);
    }
    return reinterpret_cast<void*>(finder);
}

bool is_finding() noexcept { return finding; }

// Each block is preceded by its size.
void* take_early(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr std::size_t head = 16;
    const std::size_t step = alignment < head ? head : alignment;
    std::size_t used = __atomic_load_n(&early_used, __ATOMIC_RELAXED);
    for (;;) {
        const std::size_t begin = (used + head + step - 1) / step * step;
        if (bytes > early_store_bytes || begin > early_store_bytes - bytes) return nullptr;
        if (!__atomic_compare_exchange_n(&early_used, &used, begin + bytes, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED)) {
            continue;
        }
        std::memcpy(early_store + begin - sizeof bytes, &bytes, sizeof bytes);
        return early_store + begin;
    }
}

std::size_t early_bytes(const void* block) noexcept {
    std::size_t bytes = 0;
    std::memcpy(&bytes, static_cast<const unsigned char*>(block) - sizeof bytes, sizeof bytes);
    return bytes;
}

namespace {

void* find(call which) noexcept {
    void*& place = real_functions[static_cast<std::size_t>(which)];
    void* found = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
    const call_group group = info(which).group;
    const bool is_heaps = group == call_group::allocation || group == call_group::release;
    if (found != nullptr || (finding && is_heaps)) return found; // a call by the loader, which the early store serves
    const bool was_finding = finding;
    finding = true;
    found = look_up(info(which).symbol);
    finding = was_finding;
    __atomic_store_n(&place, found, __ATOMIC_RELEASE);
    return found;
}

}

void* find_real_or_null(call which) noexcept { return find(which); }

namespace {

// Functions for private callers. A library that was opened with local scope (a plug-in with its own C++ library, a
// Python wheel with its own OpenMP) calls functions that only it and its dependencies have.
//
// Nobody waits here: a signal handler, or the child of a fork that has lost the writing thread, would wait forever.
// `version` is odd while an entry is written, so a reader sees whether the entry was complete. A thread that finds
// another one writing does not store its entry. Entries of an earlier `era` are empty.
struct private_function {
    std::uint32_t version;
    std::uint32_t era;
    call which;
    std::uintptr_t module;
    void* function;
};
constexpr std::uint32_t max_private = 128;
constinit private_function privates[max_private] = {};
constinit std::uint32_t private_era = 1; // incremented after each dlclose()
constinit int privates_lock = 0;         // held by the writer

[[nodiscard]] void* known_private(call which, std::uintptr_t module, std::uint32_t era) noexcept {
    for (const private_function& each : privates) {
        const std::uint32_t version = __atomic_load_n(&each.version, __ATOMIC_ACQUIRE);
        const bool is_it = __atomic_load_n(&each.era, __ATOMIC_RELAXED) == era &&
                           __atomic_load_n(&each.which, __ATOMIC_RELAXED) == which &&
                           __atomic_load_n(&each.module, __ATOMIC_RELAXED) == module;
        void* const function = __atomic_load_n(&each.function, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        const bool is_whole = version % 2 == 0 && __atomic_load_n(&each.version, __ATOMIC_RELAXED) == version;
        if (is_it && is_whole) return function;
    }
    return nullptr;
}

/// `era`: the era in which the function was looked up.
void remember_private(call which, std::uintptr_t module, void* function, std::uint32_t era) noexcept {
    if (__atomic_exchange_n(&privates_lock, 1, __ATOMIC_ACQUIRE) != 0) return; // it will be looked up again
    for (private_function& each : privates) {
        if (__atomic_load_n(&each.era, __ATOMIC_RELAXED) >= era) continue;
        const std::uint32_t written = __atomic_load_n(&each.version, __ATOMIC_RELAXED) | 1U; // already odd after a fork
        __atomic_store_n(&each.version, written, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE);
        __atomic_store_n(&each.era, era, __ATOMIC_RELAXED);
        __atomic_store_n(&each.which, which, __ATOMIC_RELAXED);
        __atomic_store_n(&each.module, module, __ATOMIC_RELAXED);
        __atomic_store_n(&each.function, function, __ATOMIC_RELAXED);
        __atomic_store_n(&each.version, written + 1, __ATOMIC_RELEASE);
        break;
    }
    __atomic_store_n(&privates_lock, 0, __ATOMIC_RELEASE);
}

/// The return address of the interposing function that was called from outside the hook.
[[nodiscard]] std::uintptr_t caller_of_hook() noexcept {
    const auto* frame = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
    constexpr int most_of_ours = 8;
    for (int depth = 0; depth < most_of_ours; ++depth) {
        if (!is_in_library(frame[1], "libtenure_watch")) return frame[1];
        frame = reinterpret_cast<const std::uintptr_t*>(frame[0]); // the hook is built with frame pointers
    }
    return 0;
}

TENURE_NOINLINE void* find_for_caller(call which) noexcept {
    const std::uintptr_t caller = caller_of_hook(), module = module_base(caller);
    const std::uint32_t era = __atomic_load_n(&private_era, __ATOMIC_ACQUIRE);
    if (void* const known = known_private(which, module, era)) return known;
    Dl_info about{};
    link_map* map = nullptr;
    if (module == 0 ||
        ::dladdr1(reinterpret_cast<void*>(caller), &about, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr) {
        return nullptr;
    }
    auto* const open = reinterpret_cast<void* (*)(const char*, int)>(find_symbol(RTLD_NEXT, "dlopen"));
    auto* const close = reinterpret_cast<int (*)(void*)>(find_symbol(RTLD_NEXT, "dlclose"));
    const bool was_finding = finding;
    finding = true;
    void* const library = open(*map->l_name == '\0' ? nullptr : map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = library == nullptr ? nullptr : find_symbol(library, info(which).symbol);
    if (library != nullptr) close(library);
    finding = was_finding;
    if (found != nullptr) remember_private(which, module, found, era);
    return found;
}

}

void forget_closed_libraries() noexcept {
    for (void*& each : real_functions) {
        void* const known = __atomic_load_n(&each, __ATOMIC_RELAXED);
        if (known != nullptr && !is_in_module(reinterpret_cast<std::uintptr_t>(known)))
            __atomic_store_n(&each, nullptr, __ATOMIC_RELEASE);
    }
    __atomic_fetch_add(&private_era, 1, __ATOMIC_ACQ_REL); // there are few, and they are soon found again
}

void forget_private_writer() noexcept { __atomic_store_n(&privates_lock, 0, __ATOMIC_RELEASE); }

void* find_real(call which) noexcept {
    void* found = find_real_or_null(which);
    if (found == nullptr) found = find_for_caller(which);
    if (found == nullptr) give_up(info(which).symbol);
    return found;
}

void find_reals() noexcept {
    for (const call_info& each : calls) {
        if (*each.symbol != '\0') static_cast<void>(find(each.id));
    }
    finding = true;
    static_cast<void>(::dlerror()); // hide the failed look-ups from the program
    finding = false;
}

}
