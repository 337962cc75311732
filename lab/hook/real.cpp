// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What dlsym() finds behind us. It may allocate while it looks, and it looks for malloc.

#include "hook/real.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "hook/raw.hpp"
#include "hook/recorder.hpp"

namespace tenure::lab::hook {

constinit void* real_functions[call_count] = {};

namespace {

constinit thread_local bool finding = false;
constinit std::size_t early_used = 0;

using symbol_finder = void*(void*, const char*);
constinit symbol_finder* finder = nullptr;

/// From here RTLD_NEXT is what lies behind us.
[[nodiscard]] void* find_symbol(void* where, const char* symbol) noexcept {
    if (finder == nullptr) static_cast<void>(real_dlsym());
    return finder(where, symbol);
}

void* look_up(const char* symbol) noexcept {
    // Of these the C library keeps an older form for old programs, which dlsym() may name.
    if (std::strncmp(symbol, "pthread_cond_", 13) == 0) {
        if (void* const found = ::dlvsym(RTLD_NEXT, symbol, "GLIBC_2.3.2")) return found;
    }
    return find_symbol(RTLD_NEXT, symbol);
}

[[noreturn]] void give_up(const char* symbol) noexcept {
    constexpr char text[] = "tenure watch: the program calls a function that no library of it has: ";
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

// Each block has its size in front.
void* take_early(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr std::size_t head = 16;
    std::size_t const step = alignment < head ? head : alignment;
    std::size_t used = __atomic_load_n(&early_used, __ATOMIC_RELAXED);
    for (;;) {
        std::size_t const begin = (used + head + step - 1) / step * step;
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
    call_group const group = info(which).group;
    bool const is_heaps = group == call_group::allocation || group == call_group::release;
    if (found != nullptr || (finding && is_heaps)) return found; // the loader's own, for which the store is there
    bool const was_finding = finding;
    finding = true;
    found = look_up(info(which).symbol);
    finding = was_finding;
    __atomic_store_n(&place, found, __ATOMIC_RELEASE);
    return found;
}

}

void* find_real_or_null(call which) noexcept { return find(which); }

namespace {

// A library that was opened for itself alone (a plug-in with its own C++ library, a wheel with its own OpenMP) calls
// what only it and those that it brought along have.
struct private_function {
    call which;
    std::uintptr_t module;
    void* function;
};
constexpr std::uint32_t most_private = 128;
constinit private_function privates[most_private] = {};
constinit std::uint32_t private_count = 0;
constinit int privates_lock = 0; // taken by who adds or forgets, once for a library

void lock_privates() noexcept {
    while (__atomic_exchange_n(&privates_lock, 1, __ATOMIC_ACQUIRE) != 0) raw_call(SYS_sched_yield);
}
void unlock_privates() noexcept { __atomic_store_n(&privates_lock, 0, __ATOMIC_RELEASE); }

/// The return address of the function of ours that was called from elsewhere.
[[nodiscard]] std::uintptr_t caller_of_hook() noexcept {
    auto const* frame = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
    constexpr int most_of_ours = 8;
    for (int depth = 0; depth < most_of_ours; ++depth) {
        if (!is_in_library(frame[1], "libtenure_watch")) return frame[1];
        frame = reinterpret_cast<const std::uintptr_t*>(frame[0]); // ours all keep a frame pointer
    }
    return 0;
}

TENURE_NOINLINE void* find_for_caller(call which) noexcept {
    std::uintptr_t const caller = caller_of_hook(), module = module_base(caller);
    std::uint32_t const known = __atomic_load_n(&private_count, __ATOMIC_ACQUIRE);
    for (std::uint32_t index = 0; index < known && index < most_private; ++index) {
        if (privates[index].which == which && privates[index].module == module) return privates[index].function;
    }
    Dl_info about{};
    link_map* map = nullptr;
    if (module == 0 ||
        ::dladdr1(reinterpret_cast<void*>(caller), &about, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr) {
        return nullptr;
    }
    auto* const open = reinterpret_cast<void* (*)(const char*, int)>(find_symbol(RTLD_NEXT, "dlopen"));
    auto* const close = reinterpret_cast<int (*)(void*)>(find_symbol(RTLD_NEXT, "dlclose"));
    bool const was_finding = finding;
    finding = true;
    void* const library = open(*map->l_name == '\0' ? nullptr : map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = library == nullptr ? nullptr : find_symbol(library, info(which).symbol);
    if (library != nullptr) close(library);
    finding = was_finding;
    if (found == nullptr) return nullptr;
    lock_privates();
    if (private_count < most_private) {
        privates[private_count] = {which, module, found};
        __atomic_store_n(&private_count, private_count + 1, __ATOMIC_RELEASE);
    }
    unlock_privates();
    return found;
}

}

void forget_closed_libraries() noexcept {
    for (void*& each : real_functions) {
        void* const known = __atomic_load_n(&each, __ATOMIC_RELAXED);
        if (known != nullptr && !is_in_module(reinterpret_cast<std::uintptr_t>(known)))
            __atomic_store_n(&each, nullptr, __ATOMIC_RELEASE);
    }
    lock_privates();
    __atomic_store_n(&private_count, 0, __ATOMIC_RELEASE); // few, and soon found again
    unlock_privates();
}

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
    static_cast<void>(::dlerror()); // the program is not to find our misses
    finding = false;
}

}
