// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What dlsym() finds behind us. It may allocate while it looks, and it looks for malloc.

#include "hook/real.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "hook/raw.hpp"

namespace tenure::lab::hook {

constinit void* real_functions[call_count] = {};

namespace {

constinit thread_local bool finding = false;
constinit std::size_t early_used = 0;

/// Libraries that a program may have loaded without lending their names to others.
const char* home_of(const char* symbol) noexcept {
    if (std::strncmp(symbol, "GOMP_", 5) == 0 || std::strncmp(symbol, "omp_", 4) == 0) return "libgomp.so.1";
    if (std::strncmp(symbol, "_ZN3tbb", 7) == 0) return "libtbb.so.12";
    if (std::strncmp(symbol, "_Unwind_", 8) == 0) return "libgcc_s.so.1";
    if (std::strncmp(symbol, "__cxa", 5) == 0 || std::strncmp(symbol, "_Z", 2) == 0) return "libstdc++.so.6";
    return nullptr;
}

enum class where : bool { loaded_for_all, anywhere };

void* look_up(const char* symbol, where place) noexcept {
    // Of these the C library keeps an older form for old programs, which dlsym() may name.
    if (std::strncmp(symbol, "pthread_cond_", 13) == 0) {
        if (void* const found = ::dlvsym(RTLD_NEXT, symbol, "GLIBC_2.3.2")) return found;
    }
    if (void* const found = ::dlsym(RTLD_NEXT, symbol)) return found;
    const char* const home = home_of(symbol);
    if (home == nullptr || place == where::loaded_for_all) return nullptr;
    // The names themselves are ours.
    auto* const open = reinterpret_cast<void* (*)(const char*, int)>(::dlsym(RTLD_NEXT, "dlopen"));
    auto* const close = reinterpret_cast<int (*)(void*)>(::dlsym(RTLD_NEXT, "dlclose"));
    void* const library = open == nullptr || close == nullptr ? nullptr : open(home, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return nullptr;
    void* const found = ::dlsym(library, symbol);
    close(library);
    return found;
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

void* find(call which, where among) noexcept {
    void*& place = real_functions[static_cast<std::size_t>(which)];
    void* found = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
    call_group const group = info(which).group;
    bool const is_heaps = group == call_group::allocation || group == call_group::release;
    if (found != nullptr || (finding && is_heaps)) return found; // the loader's own, for which the store is there
    bool const was_finding = finding;
    finding = true;
    found = look_up(info(which).symbol, among);
    finding = was_finding;
    __atomic_store_n(&place, found, __ATOMIC_RELEASE);
    return found;
}

}

void* find_real_or_null(call which) noexcept { return find(which, where::anywhere); }

void* find_real(call which) noexcept {
    void* const found = find_real_or_null(which);
    if (found == nullptr) give_up(info(which).symbol);
    return found;
}

void find_reals() noexcept {
    for (const call_info& each : calls) {
        if (*each.symbol != '\0') static_cast<void>(find(each.id, where::loaded_for_all));
    }
    finding = true;
    static_cast<void>(::dlerror()); // the program is not to find our misses
    finding = false;
}

}
