// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// stl_allocator: standard library containers over any allocator of this library.
///
/// `std::vector<int, stl_allocator<int, arena>> numbers{scratch};` allocates from the arena `scratch`. With temp_job
/// and other stateless allocators the container needs no argument. Throws std::bad_alloc when the allocator is out of
/// memory, as containers expect. Threads: as the allocator.
///
/// Moves: a container keeps the address of its allocator, so an arena, pool, group or heap must not move while it has
/// containers: `struct level { arena a; std::vector<...> v; }` in a std::vector that grows would use the arena's old
/// address. Hold the arena by a std::unique_ptr, or reserve() the outer vector. An allocator that is assigned to ends
/// as well: its containers, also empty ones, belong to what it was before, so make them anew. Checked builds report the
/// next use of an allocator that moved, ended or was assigned to. (The pointers of adapt/unique.hpp follow their owner;
/// a container that did would load one address more in each call.)
///
/// In checked builds a container over Temp remembers the temp_scope in which it was made, and reports its growth inside
/// a later scope, whose end would free the memory that the container goes on to use. When it frees memory that has
/// ended, the report says what ended it: the scope, the frame or reset_temp(). A copy begins anew; a container that was
/// moved from belongs to the scope of the first one.

#include <cstddef>
#include <limits>
#include <type_traits>

#include <tenure/adapt/allocator_reference.hpp>
#include <tenure/base/bad_alloc.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

/// What a container remembers of the place where it was made: nothing, unless the allocator ends blocks by scopes.
struct no_origin {
    constexpr explicit no_origin(const auto&) noexcept {}
    constexpr void check_growth() const noexcept {}
    [[nodiscard]] static constexpr bool check_free(const void*, std::size_t) noexcept { return true; }
};
template<class Allocator>
struct origin_in {
    using type = no_origin;
};
template<class Allocator>
requires(checks::caller&& requires { typename Allocator::container_origin; }) struct origin_in<Allocator> {
    using type = typename Allocator::container_origin;
};

}

template<class T, allocator Allocator>
class stl_allocator {
public:
    using value_type = T;
    using is_always_equal = std::bool_constant<detail::stateless_allocator<Allocator>>;

    stl_allocator() noexcept requires detail::stateless_allocator<Allocator> : origin_(Allocator{}) {}

    /// Requires  `from` outlives every container that holds a copy of this allocator.
    stl_allocator(Allocator& from) noexcept
        : from_(from), origin_(from) {} // NOLINT: implicit, so that containers take an allocator

    template<class U>
    stl_allocator(const stl_allocator<U, Allocator>& other) noexcept // NOLINT: implicit, as containers rebind
        : from_(other.reference()), origin_(other.origin_) {}

    [[nodiscard]] stl_allocator select_on_container_copy_construction() const noexcept {
        stl_allocator copy = *this;
        copy.origin_ = origin(from_.get());
        return copy;
    }

    [[nodiscard]] TENURE_LOCAL T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) [[unlikely]]
            throw_bad_alloc();
        origin_.check_growth();
        if (!from_.check_present()) throw_bad_alloc();
        auto&& from = from_.get();
        void* const block = from.allocate(count * sizeof(T), alignof(T));
        if (block == nullptr) [[unlikely]]
            throw_bad_alloc();
        return static_cast<T*>(block);
    }

    TENURE_LOCAL void deallocate(T* block, std::size_t count) noexcept {
        if (!from_.check_present()) return;
        if (!origin_.check_free(block, count * sizeof(T))) return;
        auto&& from = from_.get();
        from.deallocate(block, count * sizeof(T), alignof(T));
    }

    [[nodiscard]] const detail::allocator_reference<Allocator>& reference() const noexcept { return from_; }

    template<class U>
    [[nodiscard]] bool operator==(const stl_allocator<U, Allocator>& other) const noexcept {
        return from_ == other.reference();
    }

private:
    template<class U, allocator Other>
    friend class stl_allocator;
    using origin = typename detail::origin_in<Allocator>::type;

    [[no_unique_address]] detail::allocator_reference<Allocator> from_;
    [[no_unique_address]] origin origin_;
};

}
