// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The malloc families that have functions for their version, for querying blocks, and for returning memory.

#include "bench/harness/mallocs/malloc_calls.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>

#include "bench/harness/mallocs/c_library/c_library.hpp"

namespace tenure::lab {

namespace {

template<class Function>
Function* symbol(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

using mallctl_function = int(const char*, void*, std::size_t*, void*, std::size_t);

std::string jemalloc_version() {
    const char* text = nullptr;
    std::size_t bytes = sizeof text;
    if (symbol<mallctl_function>("mallctl")("version", &text, &bytes, nullptr, 0) != 0 || text == nullptr) return {};
    const std::string_view whole = text; // "5.3.0-0-g54eaed1d8b56…"
    return std::string{whole.substr(0, whole.find('-'))};
}

bool jemalloc_owns(const void* block) {
    static auto* const call = symbol<mallctl_function>("mallctl");
    unsigned arena = 0;
    std::size_t bytes = sizeof arena;
    return call("arenas.lookup", &arena, &bytes, &block, sizeof block) == 0;
}

void jemalloc_trim() {
    auto* const call = symbol<mallctl_function>("mallctl");
    call("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
    call("arena.4096.purge", nullptr, nullptr, nullptr, 0); // 4096 means all arenas
}

std::string mimalloc_version() {
    const int number = symbol<int()>("mi_version")(); // 209 means 2.0.9; later versions have two digits for each number
    std::array<char, 32> text{};
    const int base = number < 10000 ? 10 : 100;
    std::snprintf(text.data(), text.size(), "%d.%d.%d", number / (base * base), number / base % base, number % base);
    return text.data();
}

bool mimalloc_owns(const void* block) {
    static auto* const call = symbol<bool(const void*)>("mi_is_in_heap_region");
    return call(block);
}

void mimalloc_trim() { symbol<void(bool)>("mi_collect")(true); }

std::string tcmalloc_version() {
    int major = 0, minor = 0;
    const char* patch = nullptr;
    const std::string_view text = symbol<const char*(int*, int*, const char**)>("tc_version")(&major, &minor, &patch);
    std::string whole{text}; // "gperftools 2.10"
    // Two libraries give the same answer; the minimal one has no heap profiler and no checker.
    const bool minimal = object_of_symbol("tc_version").find("tcmalloc_minimal") != std::string::npos;
    const std::size_t blank = whole.find(' ');
    if (minimal && blank != std::string::npos) whole.insert(blank, " minimal");
    return whole;
}

bool tcmalloc_owns(const void* block) {
    constexpr int owned = 1; // MallocExtension_kOwned
    static auto* const call = symbol<int(const void*)>("MallocExtension_GetOwnership");
    return call(block) == owned;
}

void tcmalloc_trim() { symbol<void()>("MallocExtension_ReleaseFreeMemory")(); }

bool tbb_owns(const void* block) {
    static auto* const call = symbol<std::size_t(const void*, void*)>("__TBB_malloc_safer_msize");
    return call(block, nullptr) != 0;
}

void tbb_trim() {
    constexpr int clean_all_buffers = 0; // TBBMALLOC_CLEAN_ALL_BUFFERS
    symbol<int(int, void*)>("scalable_allocation_command")(clean_all_buffers, nullptr);
}

constexpr std::array<malloc_calls, 4> families{{
    {"jemalloc", "mallctl", jemalloc_version, "mallctl arenas.lookup", jemalloc_owns,
     "mallctl thread.tcache.flush, arena.4096.purge", jemalloc_trim},
    {"mimalloc", "mi_is_in_heap_region", mimalloc_version, "mi_is_in_heap_region", mimalloc_owns, "mi_collect(true)",
     mimalloc_trim},
    {"tcmalloc", "MallocExtension_GetOwnership", tcmalloc_version, "MallocExtension_GetOwnership", tcmalloc_owns,
     "MallocExtension_ReleaseFreeMemory", tcmalloc_trim},
    {"TBB malloc", "__TBB_malloc_safer_msize", nullptr, "__TBB_malloc_safer_msize", tbb_owns,
     "scalable_allocation_command(TBBMALLOC_CLEAN_ALL_BUFFERS)", tbb_trim},
}};
constexpr malloc_calls unknown{"unknown", nullptr, nullptr, {}, nullptr, {}, nullptr};
constexpr malloc_calls unknown_with_trim{"unknown", nullptr, nullptr, {}, nullptr, "malloc_trim(0)", call_malloc_trim};

}

const malloc_calls& process_malloc_calls() {
    static const malloc_calls* const found = []() -> const malloc_calls* {
        const std::string object = object_of_symbol("malloc");
        if (same_file(object, c_library_object())) return &c_library_calls();
        if (std::string_view{object}.substr(object.find_last_of('/') + 1).starts_with(own_malloc_prefix))
            return &drop_in_calls();
        for (const malloc_calls& family : families) {
            if (::dlsym(RTLD_DEFAULT, family.mark) != nullptr) return &family;
        }
        const bool brings_trim = same_file(object, object_of_symbol("malloc_trim"));
        return brings_trim ? &unknown_with_trim : &unknown;
    }();
    return *found;
}

std::string object_of_symbol(const char* name) {
    void* const address = ::dlsym(RTLD_DEFAULT, name);
    Dl_info info{};
    if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
    return info.dli_fname;
}

bool same_file(const std::string& left, const std::string& right) {
    struct stat first {
    }, second{};
    if (::stat(left.c_str(), &first) != 0 || ::stat(right.c_str(), &second) != 0) return false;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}
