// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// stl_allocator: standard library containers over any allocator of this library.
///
/// `std::vector<int, stl_allocator<int, arena>> numbers{scratch};` allocates from the arena `scratch`. With temp_job
/// and other stateless allocators the container needs no argument. Throws std::bad_alloc when the allocator is out of
/// memory, as containers expect. Threads: as the allocator.

#include <cstddef>
#include <limits>

#include <tenure/adapt/allocator_reference.hpp>
#include <tenure/base/bad_alloc.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

template<class T, allocator Allocator>
class stl_allocator {
public:
    using value_type = T;

    stl_allocator() noexcept requires detail::stateless_allocator<Allocator>
    = default;

    /// Requires  `from` outlives every container that holds a copy of this allocator.
    stl_allocator(Allocator& from) noexcept : from_(from) {} // NOLINT: implicit, so that containers take an allocator

    template<class U>
    stl_allocator(const stl_allocator<U, Allocator>& other) noexcept // NOLINT: implicit, as containers rebind
        : from_(other.reference()) {}

    [[nodiscard]] TENURE_LOCAL T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) [[unlikely]]
            throw_bad_alloc();
        auto&& from = from_.get();
        void* const block = from.allocate(count * sizeof(T), alignof(T));
        if (block == nullptr) [[unlikely]]
            throw_bad_alloc();
        return static_cast<T*>(block);
    }

    TENURE_LOCAL void deallocate(T* block, std::size_t count) noexcept {
        auto&& from = from_.get();
        from.deallocate(block, count * sizeof(T), alignof(T));
    }

    [[nodiscard]] const detail::allocator_reference<Allocator>& reference() const noexcept { return from_; }

    template<class U>
    [[nodiscard]] bool operator==(const stl_allocator<U, Allocator>& other) const noexcept {
        return from_ == other.reference();
    }

private:
    [[no_unique_address]] detail::allocator_reference<Allocator> from_;
};

}
