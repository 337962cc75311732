// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// small_object: a base class whose `new` and `delete` use shared pools, one per size.
///
/// Use it for     class hierarchies of small objects that are created and deleted one by one, anywhere.
/// Not for        many objects of one type: pool/pool.hpp needs no base class and frees them all at once.
/// Memory from    the system's pages, in pools that last as long as the process.
/// Cost           as pool/shared_block_pool.hpp; as malloc for sizes past 32 KiB or alignments above 64 bytes.
/// Overhead       sizes are rounded up: to multiples of 8 up to 128 bytes, of 16 up to 1024, by at most a quarter up to
///                32 KiB. The class adds no member and no virtual function.
/// Threads        any thread allocates, any thread deletes.
/// Fork           usable in the child, as pool/shared_block_pool.hpp.
/// When full      throws std::bad_alloc, as operator new does; the nothrow form returns nullptr.
/// Example        examples/small_object.cpp

#include <concepts>
#include <cstddef>
#include <new>

#include <tenure/base/bad_alloc.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {
/// Returns   nullptr when out of memory. Requires  `alignment` is a power of two.
[[nodiscard]] TENURE_API void* allocate_small(std::size_t bytes, std::size_t alignment) noexcept;
TENURE_API void deallocate_small(void* block, std::size_t bytes, std::size_t alignment) noexcept;
/// For a constructor that throws in new (std::nothrow) or in an aligned new: the language then passes no size.
/// Cost      O(all segments of all sizes).
TENURE_API void deallocate_small_unsized(void* block) noexcept;
}

class small_object {
public:
    // To delete a derived object through a base pointer, the base needs a virtual destructor, as always; the compiler
    // then passes the size of the derived class.
    TENURE_LOCAL static void* operator new(std::size_t bytes) {
        return or_throw(detail::allocate_small(bytes, plain_alignment));
    }
    TENURE_LOCAL static void* operator new[](std::size_t bytes) {
        return or_throw(detail::allocate_small(bytes, plain_alignment));
    }
    TENURE_LOCAL static void* operator new(std::size_t bytes, std::align_val_t alignment) {
        return or_throw(detail::allocate_small(bytes, static_cast<std::size_t>(alignment)));
    }
    TENURE_LOCAL static void* operator new[](std::size_t bytes, std::align_val_t alignment) {
        return or_throw(detail::allocate_small(bytes, static_cast<std::size_t>(alignment)));
    }
    TENURE_LOCAL static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
        return detail::allocate_small(bytes, plain_alignment);
    }
    TENURE_LOCAL static void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
        return detail::allocate_small(bytes, plain_alignment);
    }
    TENURE_LOCAL static void* operator new(std::size_t bytes, std::align_val_t alignment,
                                           const std::nothrow_t&) noexcept {
        return detail::allocate_small(bytes, static_cast<std::size_t>(alignment));
    }
    TENURE_LOCAL static void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                             const std::nothrow_t&) noexcept {
        return detail::allocate_small(bytes, static_cast<std::size_t>(alignment));
    }
    TENURE_LOCAL static void* operator new(std::size_t, void* place) noexcept { return place; }
    TENURE_LOCAL static void* operator new[](std::size_t, void* place) noexcept { return place; }

    TENURE_LOCAL static void operator delete(void* block, std::size_t bytes) noexcept {
        detail::deallocate_small(block, bytes, plain_alignment);
    }
    TENURE_LOCAL static void operator delete[](void* block, std::size_t bytes) noexcept {
        detail::deallocate_small(block, bytes, plain_alignment);
    }
    TENURE_LOCAL static void operator delete(void* block, std::size_t bytes, std::align_val_t alignment) noexcept {
        detail::deallocate_small(block, bytes, static_cast<std::size_t>(alignment));
    }
    TENURE_LOCAL static void operator delete[](void* block, std::size_t bytes, std::align_val_t alignment) noexcept {
        detail::deallocate_small(block, bytes, static_cast<std::size_t>(alignment));
    }
    // The language calls these when a constructor throws in an aligned form. They are templates, because every aligned
    // delete would choose a plain function of this form, which gets no size.
    template<std::same_as<std::align_val_t> Alignment>
    TENURE_LOCAL static void operator delete(void* block, Alignment) noexcept {
        detail::deallocate_small_unsized(block);
    }
    template<std::same_as<std::align_val_t> Alignment>
    TENURE_LOCAL static void operator delete[](void* block, Alignment) noexcept {
        detail::deallocate_small_unsized(block);
    }
    // The language calls these when a constructor throws in the nothrow and placement forms.
    TENURE_LOCAL static void operator delete(void* block, const std::nothrow_t&) noexcept {
        detail::deallocate_small_unsized(block);
    }
    TENURE_LOCAL static void operator delete[](void* block, const std::nothrow_t&) noexcept {
        detail::deallocate_small_unsized(block);
    }
    TENURE_LOCAL static void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
        detail::deallocate_small_unsized(block);
    }
    TENURE_LOCAL static void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
        detail::deallocate_small_unsized(block);
    }
    TENURE_LOCAL static void operator delete(void*, void*) noexcept {}
    TENURE_LOCAL static void operator delete[](void*, void*) noexcept {}

    /// Releases empty segments and decommits empty pages of every size. Returns   the bytes returned.
    /// Requires  no other thread uses small objects meanwhile.
    TENURE_API static std::size_t trim() noexcept;

    /// The sum over all sizes, without blocks past 32 KiB; peak_bytes is the sum of the peaks of the sizes.
    /// Cost      O(sizes x threads).
    [[nodiscard]] TENURE_API static allocator_stats stats() noexcept;

protected:
    small_object() = default;
    small_object(const small_object&) = default;
    small_object& operator=(const small_object&) = default;
    ~small_object() = default;

private:
    // Blocks whose size is a multiple of 16 are at multiples of 16, others at multiples of 8. A type of such a size
    // needs no more unless it has an explicit alignment.
    static constexpr std::size_t plain_alignment = 1;

    [[nodiscard]] static void* or_throw(void* block) {
        if (block == nullptr) [[unlikely]]
            throw_bad_alloc();
        return block;
    }
};

}
