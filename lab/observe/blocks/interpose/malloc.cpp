// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The malloc family.

#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <tenure/platform/memory.hpp>

#include "observe/blocks/interpose/real.hpp"
#include "observe/blocks/interpose/recorded.hpp"

using namespace tenure::lab::blocks;
namespace platform = tenure::platform;

namespace {

void* move_out_of_early(void* block, std::size_t bytes) noexcept {
    void* const moved = malloc(bytes);
    if (moved != nullptr) std::memcpy(moved, block, std::min(bytes, early_bytes(block)));
    return moved;
}

[[nodiscard]] void* noted(void* block, request asked) noexcept {
    note_block(block, asked);
    return block;
}

template<call Which, class... Others>
void freed(void* block, Others... others) noexcept {
    auto* const function = real<void(void*, Others...)>(Which);
    if (block == nullptr || is_early(block) || function == nullptr) return;
    const std::size_t before = forget_block(block);
    function(block, others...);
    note_freed(block, before);
}

}

extern "C" {

void* malloc(std::size_t bytes) {
    auto* const function = real<void*(std::size_t)>(call::malloc);
    return function == nullptr ? take_early(bytes) : noted(function(bytes), {bytes});
}

void* calloc(std::size_t count, std::size_t bytes) {
    std::size_t product = 0;
    const bool is_too_large = __builtin_mul_overflow(count, bytes, &product);
    auto* const function = real<void*(std::size_t, std::size_t)>(call::calloc);
    if (function == nullptr) return is_too_large ? nullptr : take_early(product);
    return noted(function(count, bytes), {product, family::zeroed});
}

void* realloc(void* block, std::size_t bytes) {
    if (is_early(block)) return move_out_of_early(block, bytes);
    auto* const function = real<void*(void*, std::size_t)>(call::realloc);
    if (function == nullptr) return take_early(bytes);
    const std::uint64_t before = begin_resize(block);
    void* const answer = function(block, bytes);
    end_resize(before, block, answer, bytes);
    return answer;
}

// Not the real one, which calls realloc.
void* reallocarray(void* block, std::size_t count, std::size_t bytes) {
    std::size_t product = 0;
    if (__builtin_mul_overflow(count, bytes, &product)) product = SIZE_MAX; // refused, with an error number
    return realloc(block, product);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    auto* const function = real<int(void**, std::size_t, std::size_t)>(call::posix_memalign);
    if (function == nullptr) return ENOMEM;
    const int answer = function(block, alignment, bytes);
    if (answer == 0) note_block(*block, aligned_request(bytes, alignment, family::aligned));
    return answer;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    auto* const function = real<void*(std::size_t, std::size_t)>(call::aligned_alloc);
    return function == nullptr ? nullptr
                               : noted(function(alignment, bytes), aligned_request(bytes, alignment, family::aligned));
}

void* memalign(std::size_t alignment, std::size_t bytes) {
    auto* const function = real<void*(std::size_t, std::size_t)>(call::memalign);
    return function == nullptr ? nullptr
                               : noted(function(alignment, bytes), aligned_request(bytes, alignment, family::aligned));
}

// A block of whole pages.
void* valloc(std::size_t bytes) {
    auto* const function = real<void*(std::size_t)>(call::valloc);
    return function == nullptr
               ? nullptr
               : noted(function(bytes), aligned_request(bytes, platform::page_bytes(), family::aligned));
}

void* pvalloc(std::size_t bytes) {
    auto* const function = real<void*(std::size_t)>(call::pvalloc);
    return function == nullptr
               ? nullptr
               : noted(function(bytes), aligned_request(bytes, platform::page_bytes(), family::aligned));
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
