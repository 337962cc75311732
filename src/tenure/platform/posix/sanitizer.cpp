// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/sanitizer.hpp>

#include <cstring>

#include <tenure/platform/resident.hpp>

#if TENURE_VALGRIND
#    include <valgrind/memcheck.h>
#    include <valgrind/valgrind.h>
#else
#    define VALGRIND_MAKE_MEM_NOACCESS(bytes, count) static_cast<void>(0)
#    define VALGRIND_MAKE_MEM_UNDEFINED(bytes, count) static_cast<void>(0)
#    define VALGRIND_DISABLE_ERROR_REPORTING static_cast<void>(0)
#    define VALGRIND_ENABLE_ERROR_REPORTING static_cast<void>(0)
#endif

// Weak: defined only if the program was built with the sanitizer, however the library was built.
extern "C" {
__attribute__((weak)) void __tsan_acquire(void*);
__attribute__((weak)) void __asan_poison_memory_region(const volatile void*, std::size_t);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void*, std::size_t);
__attribute__((weak)) void* __asan_region_is_poisoned(void*, std::size_t);
__attribute__((weak)) void __lsan_register_root_region(const void*, std::size_t);
__attribute__((weak)) void __lsan_unregister_root_region(const void*, std::size_t);
}

namespace tenure::inline TENURE_ABI::platform {

bool is_under_thread_sanitizer() noexcept { return &__tsan_acquire != nullptr; }

bool has_poison() noexcept {
#if TENURE_VALGRIND
    return true;
#else
    return &__asan_poison_memory_region != nullptr;
#endif
}

void poison(const void* bytes, std::size_t count) noexcept {
    if (&__asan_poison_memory_region != nullptr) __asan_poison_memory_region(bytes, count);
    VALGRIND_MAKE_MEM_NOACCESS(bytes, count);
}

void unpoison(const void* bytes, std::size_t count) noexcept {
    if (&__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(bytes, count);
    VALGRIND_MAKE_MEM_UNDEFINED(bytes, count);
}

bool is_poisoned(const void* bytes, std::size_t count) noexcept {
    return &__asan_region_is_poisoned != nullptr &&
           __asan_region_is_poisoned(const_cast<void*>(bytes), count) != nullptr;
}

// Memcheck takes what is read from inaccessible memory for initialised.
__attribute__((no_sanitize_address)) std::uint64_t read_hidden(const void* word) noexcept {
    VALGRIND_DISABLE_ERROR_REPORTING;
    const std::uint64_t read = __atomic_load_n(static_cast<const std::uint64_t*>(word), __ATOMIC_RELAXED);
    VALGRIND_ENABLE_ERROR_REPORTING;
    return read;
}

// Loops of their own, because AddressSanitizer intercepts the C library's functions.
__attribute__((no_sanitize_address)) std::size_t first_other(const void* bytes, std::size_t count,
                                                             unsigned char fill) noexcept {
    const auto* const from = static_cast<const unsigned char*>(bytes);
    std::size_t found = 0;
    VALGRIND_DISABLE_ERROR_REPORTING;
    while (found < count && from[found] == fill) ++found;
    VALGRIND_ENABLE_ERROR_REPORTING;
    return found;
}

__attribute__((no_sanitize_address)) std::size_t past_last_other(const void* bytes, std::size_t count,
                                                                 unsigned char fill) noexcept {
    const auto* const from = static_cast<const unsigned char*>(bytes);
    VALGRIND_DISABLE_ERROR_REPORTING;
    while (count != 0 && from[count - 1] == fill) --count;
    VALGRIND_ENABLE_ERROR_REPORTING;
    return count;
}

void poison_freed(void* bytes, std::size_t count) noexcept {
    unpoison(bytes, count); // parts may be poisoned: gaps between blocks, blocks that were freed one by one
    std::memset(bytes, freed_fill, count);
    poison(bytes, count);
}

void poison_dropped(void* bytes, std::size_t count) noexcept {
    constexpr std::size_t max_filled_unseen = std::size_t{64} * 1024; // below this, filling is cheaper than asking
    if (count <= max_filled_unseen) return poison_freed(bytes, count);
    unpoison(bytes, count);
    for_each_resident(bytes, count, [](void* part, std::size_t size) { std::memset(part, freed_fill, size); });
    poison(bytes, count);
}

void add_leak_root(const void* bytes, std::size_t count) noexcept {
    if (&__lsan_register_root_region != nullptr) __lsan_register_root_region(bytes, count);
}

void remove_leak_root(const void* bytes, std::size_t count) noexcept {
    if (&__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(bytes, count);
}

}
