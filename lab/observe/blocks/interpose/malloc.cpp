// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The malloc family.

#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
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

template<call Which, class... Others>
void freed(void* block, Others... others) noexcept {
    auto* const function = real<void(void*, Others...)>(Which);
    if (block == nullptr || is_early(block) || function == nullptr) return;
    const std::size_t bytes = forget_block(block);
    function(block, others...);
    note_freed(block, bytes);
}

/// Once a block is moved, another thread may have its address: so it is forgotten before the call.
template<class Reallocate>
[[nodiscard]] void* moved(void* block, std::size_t bytes, Reallocate&& reallocate) noexcept {
    const std::size_t bytes_before = forget_block(block);
    void* const answer = reallocate();
    if (answer == nullptr && bytes != 0) { // refused: it stays
        restore_block(block, bytes_before);
        return nullptr;
    }
    answer == block ? note_resized(block, bytes_before) : note_freed(block, bytes_before);
    return noted(answer, bytes);
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
    auto* const function = real<int(void**, std::size_t, std::size_t)>(call::posix_memalign);
    if (function == nullptr) return ENOMEM;
    const int answer = function(block, alignment, bytes);
    if (answer == 0) note_block(*block, bytes);
    return answer;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    auto* const function = real<void*(std::size_t, std::size_t)>(call::aligned_alloc);
    return function == nullptr ? nullptr : noted(function(alignment, bytes), bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
    auto* const function = real<void*(std::size_t, std::size_t)>(call::memalign);
    return function == nullptr ? nullptr : noted(function(alignment, bytes), bytes);
}

void free(void* block) { freed<call::free>(block); }

// Of C23: a malloc may lack them.
void free_sized(void* block, std::size_t bytes) {
    if (real<void>(call::free_sized) == nullptr) return freed<call::free>(block);
    freed<call::free_sized>(block, bytes);
}
void free_aligned_sized(void* block, std::size_t alignment, std::size_t bytes) {
    if (real<void>(call::free_aligned_sized) == nullptr) return freed<call::free>(block);
    freed<call::free_aligned_sized>(block, alignment, bytes);
}
}
