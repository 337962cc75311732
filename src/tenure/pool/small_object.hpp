// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A base class whose `new` and `delete` go to shared pools, one per size.
///
/// Use it for     class hierarchies of small objects that are made and deleted one by one, anywhere.
/// Not for        one type in bulk: see pool/pool.hpp, which needs no base class and drops all at once.
/// Memory from    the system's pages, in pools that last as long as the process.
/// Cost           as pool/shared_block_pool.hpp; past 32 KiB, or aligned to more than 64 bytes, as malloc.
/// Overhead       sizes are rounded up: to 8 bytes up to 128, to 16 up to 1024, by at most a quarter up to 32 KiB.
///                The class adds no member and no virtual function.
/// Threads        any thread allocates, any thread deletes.
/// Fork           usable in the child, as pool/shared_block_pool.hpp.
/// When full      throws std::bad_alloc, as operator new does; the nothrow form returns null.
/// Example        examples/small_object.cpp

#include <concepts>
#include <cstddef>
#include <new>

#include <tenure/base/bad_alloc.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {
/// Null when refused. Requires  `alignment` is a power of two.
[[nodiscard]] TENURE_API void* allocate_small(std::size_t bytes, std::size_t alignment) noexcept;
TENURE_API void deallocate_small(void* block, std::size_t bytes, std::size_t alignment) noexcept;
/// For the one case in which the language does not say the size: a constructor that throws under new (std::nothrow) or
/// under an aligned new.
/// Cost      O(all segments of all sizes).
TENURE_API void deallocate_small_unsized(void* block) noexcept;
}

class small_object {
public:
    // Deleting a derived object through a base pointer needs the base to have a virtual destructor, as ever; the
    // compiler then passes the size of the derived class.
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
    // What the language calls when a constructor throws under an aligned form: it looks for these exact parameters.
    // Templates, because a plain function of this shape would be taken by every aligned delete, which then says no
    // size.
    template<std::same_as<std::align_val_t> Alignment>
    TENURE_LOCAL static void operator delete(void* block, Alignment) noexcept {
        detail::deallocate_small_unsized(block);
    }
    template<std::same_as<std::align_val_t> Alignment>
    TENURE_LOCAL static void operator delete[](void* block, Alignment) noexcept {
        detail::deallocate_small_unsized(block);
    }
    // What the language calls when a constructor throws under the nothrow and placement forms.
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

    /// Gives back the empty pages of every size. Requires  no other thread uses small objects meanwhile.
    /// Returns   the bytes given back.
    TENURE_API static std::size_t trim() noexcept;

    /// All sizes together, without what went past 32 KiB; peak_bytes is the sum of the sizes' own peaks. Cost O(sizes x
    /// threads).
    [[nodiscard]] TENURE_API static allocator_stats stats() noexcept;

protected:
    small_object() = default;
    small_object(const small_object&) = default;
    small_object& operator=(const small_object&) = default;
    ~small_object() = default;

private:
    // Sizes that are multiples of 16 lie at multiples of 16, others at multiples of 8, which is all that a type of
    // such a size can ask for without an explicit alignment.
    static constexpr std::size_t plain_alignment = 1;

    [[nodiscard]] static void* or_throw(void* block) {
        if (block == nullptr) [[unlikely]]
            throw_bad_alloc();
        return block;
    }
};

}
