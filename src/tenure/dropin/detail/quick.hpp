// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The fast path of the entry points: the thread's cache of the process heap.
///
/// The heap's own inline functions serve any alignment, and their slow paths leave errno to the caller. Entry points
/// know the alignment, and their slow paths preserve or set errno, so malloc is the fast path and a jump to the slow
/// one.

#include <array>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/purge/background.hpp>
#include <tenure/heap/heap.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// Allocates by the slow path; in checked builds by their only path. Preserves errno on success; sets it to ENOMEM on
/// failure.
[[nodiscard]] void* allocate_slow(std::size_t bytes, std::size_t alignment,
                                  detail::block_form form = detail::block_form::c) noexcept;
[[nodiscard]] void* allocate_zeroed_slow(std::size_t bytes, std::size_t alignment) noexcept;

/// Starts the heap's background thread for a call from `caller`, unless that is the C library or the loader: they free
/// under locks that the start of a thread takes.
void start_background_for(const void* caller) noexcept;
/// The same, if the thread is wanted. Slow paths that are tail calls of the entry points do it themselves; other entry
/// points call it with their own return address.
TENURE_ALWAYS_INLINE void start_wanted_background(const void* caller) noexcept {
    if (detail::is_background_wanted()) [[unlikely]]
        start_background_for(caller);
}

/// Frees by the slow path and preserves errno.
void deallocate_slow(void* block) noexcept;
/// The same with what checked builds compare.
void deallocate_slow_as(void* block, detail::block_form form, std::size_t bytes) noexcept;

/// In the advised drop-in (advice.hpp): frees a block of a group into the thread's cache for it.
/// Returns   false if it is of no group, or the cache is full or not known.
[[nodiscard]] bool deallocate_in_group(detail::thread_cache& main, void* block) noexcept;

/// Offsets in a thread cache of the blocks for requests of up to 1 KiB, in steps of the alignment.
template<std::size_t alignment>
constexpr auto offsets_by_step = [] {
    static_assert(alignment == 8 || alignment == 16);
    std::array<std::uint16_t, detail::table_limit_bytes / alignment + 1> offsets{};
    for (std::size_t step = 0; step < offsets.size(); ++step) {
        const std::size_t class_index = detail::class_for(step * alignment, alignment);
        const std::size_t offset = offsetof(detail::thread_cache, of_class) + class_index * sizeof(detail::block_cache);
        offsets[step] = static_cast<std::uint16_t>(offset);
    }
    return offsets;
}();

/// Requires  `bytes` is at most 1 KiB.
template<std::size_t alignment>
[[nodiscard]] TENURE_ALWAYS_INLINE detail::block_cache& blocks_for(detail::thread_cache& cache,
                                                                   std::size_t bytes) noexcept {
    const std::size_t offset = offsets_by_step<alignment>[(bytes + alignment - 1) / alignment];
    return *reinterpret_cast<detail::block_cache*>(reinterpret_cast<char*>(&cache) + offset);
}

/// Takes a block from the calling thread's cache.
/// Returns   whether the cache had one.
template<std::size_t alignment>
[[nodiscard]] TENURE_ALWAYS_INLINE bool allocate_fast(void*& block, std::size_t bytes) noexcept {
    detail::thread_cache* const cache = detail::process_cache();
    if (checks::caller || cache == nullptr) [[unlikely]]
        return false;
    if (bytes <= detail::table_limit_bytes) [[likely]]
        return detail::pop(block, blocks_for<alignment>(*cache, bytes));
    return bytes <= detail::max_small_bytes && detail::pop(block, cache->of_class[detail::geometric_class_of(bytes)]);
}

/// Requires  `alignment` is 8 or 16: what malloc and the plain forms of operator new guarantee.
template<std::size_t alignment>
[[nodiscard]] TENURE_ALWAYS_INLINE void* allocate(std::size_t bytes) noexcept {
    void* block; // assigned, or not used
    return allocate_fast<alignment>(block, bytes) ? block : allocate_slow(bytes, alignment);
}

/// allocate_fast() for any alignment.
/// Requires  `alignment` is a power of two.
[[nodiscard]] TENURE_ALWAYS_INLINE bool allocate_aligned_fast(void*& block, std::size_t bytes,
                                                              std::size_t alignment) noexcept {
    detail::thread_cache* const cache = detail::process_cache();
    const bool is_small = bytes <= detail::max_small_bytes && alignment <= detail::max_small_bytes;
    if (checks::caller || cache == nullptr || !is_small) [[unlikely]]
        return false;
    // Classes past the small ones have a count of zero.
    return detail::pop(block, cache->of_class[detail::class_for(bytes, alignment)]);
}

/// Requires  `alignment` is a power of two.
[[nodiscard]] TENURE_ALWAYS_INLINE void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
    void* block = nullptr;
    return allocate_aligned_fast(block, bytes, alignment) ? block : allocate_slow(bytes, alignment);
}

/// Frees a block. Checked builds compare the form and, unless it is unknown_size, the size.
/// Requires  `block` is nullptr or from the process heap.
template<detail::block_form form = detail::block_form::c>
TENURE_ALWAYS_INLINE void deallocate(void* block, [[maybe_unused]] std::size_t bytes = detail::unknown_size) noexcept {
    if constexpr (checks::caller) return deallocate_slow_as(block, form, bytes);
    detail::thread_cache* const cache = detail::process_cache();
    const bool is_special = (address_of(block) & (detail::max_segment_bytes - 1)) == 0; // nullptr, or a huge block
    const bool is_quick =
        cache != nullptr && !is_special &&
        detail::push(cache->of_class[detail::class_number_at(block, detail::max_segment_bytes)], block);
    if (is_quick) [[likely]]
        return;
    if constexpr (is_advised) {
        if (cache != nullptr && !is_special && deallocate_in_group(*cache, block)) return;
    }
    deallocate_slow(block);
}

}
