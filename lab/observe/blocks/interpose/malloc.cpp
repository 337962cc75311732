// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The malloc family.

#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "observe/blocks/interpose/real.hpp"
#include "observe/blocks/record/recorder.hpp"

using namespace tenure::lab::blocks;

namespace {

void* move_out_of_early(void* block, std::size_t bytes) noexcept {
    void* const moved = malloc(bytes);
    if (moved != nullptr) std::memcpy(moved, block, std::min(bytes, early_bytes(block)));
    return moved;
}

[[nodiscard]] void* noted(void* block, std::size_t bytes) noexcept {
    note_block(block, bytes);
    return block;
}

/// Once a block is moved, another thread may have its address: so it is forgotten before the call.
template<class Reallocate>
[[nodiscard]] void* moved(void* block, std::size_t bytes, Reallocate&& reallocate) noexcept {
    const bool was_known = forget_block(block);
    void* const answer = reallocate();
    if (answer != nullptr || bytes == 0) return noted(answer, bytes);
    if (was_known) note_block(block, malloc_usable_size(block)); // refused: it stays
    return nullptr;
}

}

extern "C" {

void* malloc(std::size_t bytes) {
    auto* const function = real<void*(std::size_t)>(call::malloc);
    return function == nullptr ? take_early(bytes) : noted(function(bytes), bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
    std::size_t product = 0;
    const bool is_too_large = __builtin_mul_overflow(count, bytes, &product);
    auto* const function = real<void*(std::size_t, std::size_t)>(call::calloc);
    if (function == nullptr) return is_too_large ? nullptr : take_early(product);
    return noted(function(count, bytes), product);
}

void* realloc(void* block, std::size_t bytes) {
    if (is_early(block)) return move_out_of_early(block, bytes);
    auto* const function = real<void*(void*, std::size_t)>(call::realloc);
    if (function == nullptr) return take_early(bytes);
    return moved(block, bytes, [&] { return function(block, bytes); });
}

void* reallocarray(void* block, std::size_t count, std::size_t bytes) {
    std::size_t product = 0;
    if (__builtin_mul_overflow(count, bytes, &product)) product = SIZE_MAX; // refused, with an error number
    auto* const function = real<void*(void*, std::size_t, std::size_t)>(call::reallocarray);
    if (function == nullptr || is_early(block)) return realloc(block, product);
    return moved(block, product, [&] { return function(block, count, bytes); });
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    const int answer = real<int(void**, std::size_t, std::size_t)>(call::posix_memalign)(block, alignment, bytes);
    if (answer == 0) note_block(*block, bytes);
    return answer;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return noted(real<void*(std::size_t, std::size_t)>(call::aligned_alloc)(alignment, bytes), bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
    return noted(real<void*(std::size_t, std::size_t)>(call::memalign)(alignment, bytes), bytes);
}

void free(void* block) {
    auto* const function = real<void(void*)>(call::free);
    if (block == nullptr || is_early(block) || function == nullptr) return;
    forget_block(block);
    function(block);
}
}
