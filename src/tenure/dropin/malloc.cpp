// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The C library's malloc family, as documented in glibc's manual: alignment 16, errno, and the treatment of zero
/// sizes, overflow and invalid alignments.

#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include <tenure/base/compiler.hpp>
#include <tenure/dropin/detail/advice.hpp>
#include <tenure/dropin/detail/early.hpp>
#include <tenure/dropin/detail/quick.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/posix/c_functions.hpp>

namespace {

using namespace tenure;

[[nodiscard]] void* refuse_with(int error) noexcept {
    errno = error;
    return nullptr;
}

/// Multiplies.
/// Returns   false, with ENOMEM, on overflow.
[[nodiscard]] bool multiply(std::size_t count, std::size_t bytes, std::size_t& product) noexcept {
    if (!detail::multiply_overflows(count, bytes, product)) [[likely]]
        return true;
    errno = ENOMEM;
    return false;
}

/// The class number of a block's page if the thread has a cache; no_class if the heap must be asked.
[[nodiscard]] TENURE_ALWAYS_INLINE std::size_t number_of_small(const void* block) noexcept {
    const bool is_special = (address_of(block) & (detail::max_segment_bytes - 1)) == 0;
    if (checks::caller || detail::process_cache() == nullptr || is_special) return detail::no_class;
    return detail::class_number_at(block, detail::max_segment_bytes);
}

/// The size of a small block; zero if the heap must be asked.
[[nodiscard]] std::size_t room_of_small(const void* block) noexcept {
    const std::size_t number = number_of_small(block);
    return number < detail::small_class_count ? detail::class_bytes(number) : 0;
}

/// Moves a small block. A shrinking block stays in place when out of memory.
[[nodiscard]] void* move_small(void* block, std::size_t room, std::size_t bytes) noexcept {
    const bool shrinks = bytes <= room;
    const int saved = shrinks ? errno : 0;
    void* const moved = dropin::allocate<default_alignment>(bytes);
    if (moved == nullptr && shrinks) {
        errno = saved;
        return block;
    }
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(room, bytes));
    dropin::deallocate(block);
    return moved;
}

/// room_of_small() while a heap profile counts allocations: pages have other numbers then.
[[nodiscard]] std::size_t room_of_counted(const void* block) noexcept {
    const std::size_t number = number_of_small(block);
    return detail::is_counted_number(number) ? detail::class_bytes(number - detail::counted_classes) : 0;
}

[[nodiscard]] bool is_worth_keeping(std::size_t room, std::size_t bytes) noexcept {
    return bytes <= room && bytes >= room / 2;
}

/// Resizes a block that the inline path does not know.
[[nodiscard]] void* resize(void* block, std::size_t bytes) noexcept {
    if (dropin::is_early(block)) return dropin::move_early(block, bytes);
    const std::size_t room = room_of_counted(block);
    if (room != 0) return is_worth_keeping(room, bytes) ? block : move_small(block, room, bytes);
    const int saved = errno;
    void* const moved = detail::process_reallocate(block, bytes);
    errno = moved != nullptr ? saved : ENOMEM;
    return moved;
}

[[nodiscard]] TENURE_ALWAYS_INLINE void* reallocate(void* block, std::size_t bytes, const void* caller) noexcept {
    if (dropin::reallocate_as_advised(block, bytes)) return block;
    if (block == nullptr) return dropin::allocate<default_alignment>(bytes);
    if (bytes == 0) {
        dropin::deallocate(block);
        return nullptr;
    }
    const std::size_t room = room_of_small(block);
    if (is_worth_keeping(room, bytes)) return block;
    void* const moved = room == 0 ? resize(block, bytes) : move_small(block, room, bytes);
    dropin::start_wanted_background(caller);
    return moved;
}

[[nodiscard]] void* aligned_of_no_group(std::size_t alignment, std::size_t bytes) noexcept {
    return dropin::allocate_aligned(bytes, alignment < default_alignment ? default_alignment : alignment);
}

[[nodiscard]] TENURE_ALWAYS_INLINE void* aligned(std::size_t alignment, std::size_t bytes) noexcept {
    void* block = nullptr;
    const bool is_served =
        dropin::allocate_as_advised(block, bytes, std::max(alignment, default_alignment), detail::fill::none);
    return is_served ? block : aligned_of_no_group(alignment, bytes);
}

}

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): glibc's headers have reserved names
#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t bytes) TENURE_C_NOEXCEPT {
    void* block; // assigned, or not used
    if (dropin::allocate_as_advised(block, bytes, default_alignment, detail::fill::none)) return block;
    return dropin::allocate<default_alignment>(bytes);
}

void free(void* block) TENURE_C_NOEXCEPT { dropin::deallocate(block); }

void* calloc(std::size_t count, std::size_t bytes) TENURE_C_NOEXCEPT {
    std::size_t whole = 0;
    if (!multiply(count, bytes, whole)) return nullptr;
    void* block = nullptr;
    if (dropin::allocate_as_advised(block, whole, default_alignment, detail::fill::zero)) return block;
    if (dropin::allocate_fast<default_alignment>(block, whole)) [[likely]]
        return std::memset(block, 0, whole);
    return dropin::allocate_zeroed_slow(whole, default_alignment);
}

void* realloc(void* block, std::size_t bytes) TENURE_C_NOEXCEPT {
    return reallocate(block, bytes, TENURE_RETURN_ADDRESS());
}

void* reallocarray(void* block, std::size_t count, std::size_t bytes) TENURE_C_NOEXCEPT {
    std::size_t whole = 0;
    return multiply(count, bytes, whole) ? reallocate(block, whole, TENURE_RETURN_ADDRESS()) : nullptr;
}

// C23. The passed size and alignment are ignored: a wrong value would put the block into the wrong size class.
void free_sized(void* block, std::size_t) noexcept;
void free_sized(void* block, std::size_t) noexcept { free(block); }
void free_aligned_sized(void* block, std::size_t, std::size_t) noexcept;
void free_aligned_sized(void* block, std::size_t, std::size_t) noexcept { free(block); }

// An alias of free() before glibc 2.26; programs linked then still use it.
void cfree(void* block) noexcept;
void cfree(void* block) noexcept { free(block); }

void* aligned_alloc(std::size_t alignment, std::size_t bytes) TENURE_C_NOEXCEPT {
    return is_power_of_two(alignment) ? aligned(alignment, bytes) : refuse_with(EINVAL);
}

void* memalign(std::size_t alignment, std::size_t bytes) TENURE_C_NOEXCEPT {
    constexpr std::size_t largest = (SIZE_MAX >> 1) + 1;
    return alignment <= largest ? aligned(std::bit_ceil(alignment), bytes) : refuse_with(EINVAL);
}

int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) TENURE_C_NOEXCEPT {
    if (alignment < sizeof(void*) || !is_power_of_two(alignment)) return EINVAL;
    void* const block = aligned(alignment, bytes);
    if (block == nullptr) return ENOMEM; // errno is ENOMEM, too, as in glibc
    *result = block;
    return 0;
}

void* valloc(std::size_t bytes) TENURE_C_NOEXCEPT { return aligned(platform::page_bytes(), bytes); }

void* pvalloc(std::size_t bytes) TENURE_C_NOEXCEPT {
    const std::size_t page = platform::page_bytes();
    return bytes <= SIZE_MAX - page ? aligned(page, align_up(bytes, page)) : refuse_with(ENOMEM);
}

std::size_t malloc_usable_size(void* block) TENURE_C_NOEXCEPT {
    return dropin::is_early(block) ? dropin::early_bytes(block) : heap::process().usable_size(block);
}
}
#pragma GCC visibility pop
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
