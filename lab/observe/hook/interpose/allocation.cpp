// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The malloc family. A small static store serves calls that arrive before the loader has found the real functions or
/// while it is looking for them.

#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "observe/hook/interpose/observed.hpp"

using namespace tenure::lab::hook;

namespace {

/// Whether the real function is not available yet.
template<call Which>
[[gnu::always_inline]] inline bool is_too_early() noexcept {
    return real_functions[static_cast<std::size_t>(Which)] == nullptr && is_finding();
}

TENURE_NOINLINE void* move_out_of_early(void* block, std::size_t bytes) noexcept {
    void* const moved = malloc(bytes);
    if (moved != nullptr) std::memcpy(moved, block, std::min(bytes, early_bytes(block)));
    return moved;
}

}

extern "C" {

void* malloc(std::size_t bytes) {
    if (is_too_early<call::malloc>()) [[unlikely]]
        return take_early(bytes, 16);
    return observed_allocation<call::malloc, decltype(malloc)>(here(), bytes, bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
    std::size_t product = 0;
    if (is_too_early<call::calloc>()) [[unlikely]]
        return __builtin_mul_overflow(count, bytes, &product) ? nullptr : take_early(product, 16); // never used: zero
    return observed_allocation<call::calloc, decltype(calloc)>(here(), count * bytes, count, bytes);
}

void* realloc(void* block, std::size_t bytes) {
    if (is_early(block)) [[unlikely]]
        return move_out_of_early(block, bytes);
    if (is_too_early<call::realloc>()) [[unlikely]]
        return take_early(bytes, 16);
    return observed_allocation<call::realloc, decltype(realloc)>(here(), bytes, block, bytes);
}

void* reallocarray(void* block, std::size_t count, std::size_t bytes) {
    std::size_t product = 0;
    if (is_early(block) && !__builtin_mul_overflow(count, bytes, &product)) return move_out_of_early(block, product);
    return observed_allocation<call::reallocarray, decltype(reallocarray)>(here(), count * bytes, block, count, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    return observed_allocation<call::posix_memalign, decltype(posix_memalign)>(here(), bytes, block, alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return observed_allocation<call::aligned_alloc, decltype(aligned_alloc)>(here(), bytes, alignment, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
    return observed_allocation<call::memalign, decltype(memalign)>(here(), bytes, alignment, bytes);
}

void* valloc(std::size_t bytes) { return observed_allocation<call::valloc, decltype(valloc)>(here(), bytes, bytes); }
void* pvalloc(std::size_t bytes) { return observed_allocation<call::pvalloc, decltype(pvalloc)>(here(), bytes, bytes); }

void free(void* block) {
    if (is_early(block) || is_too_early<call::free>()) [[unlikely]] // from the early store, from the loader, or nullptr
        return;
    auto* const function = real<decltype(free)>(call::free);
    if (!is_active()) [[likely]]
        return function(block);
    if (block != nullptr) {
        const noted_call<call::free> note(here());
        return function(block);
    }
    const std::uint64_t begin = ticks();
    function(block);
    note_null_free(call::free, here(), begin, ticks());
}

void cfree(void* block) {
    if (is_early(block)) return;
    // Newer C libraries do not have cfree().
    if (find_real_or_null(call::cfree) == nullptr) return free(block);
    observed<call::cfree, void(void*)>(here(), block);
}
}
