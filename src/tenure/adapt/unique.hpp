// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Owning pointers over any allocator and any pool of this library.
///
/// Moves          a pointer keeps the address of its allocator. An allocator that moves leaves its pointers behind:
///                they would free into the moved-from object. Do not move an allocator that has such pointers; in a
///                struct that moves, hold the allocator through a pointer.
///
/// Compile time   0.3 s for each file that includes it, because std::unique_ptr is in <memory>.

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/adapt/allocator_reference.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>
#include <tenure/base/typed.hpp>

namespace tenure::inline TENURE_ABI {

/// Destroys an object and deallocates its memory. As large as a pointer; empty for a stateless allocator.
template<class T, allocator Allocator>
class allocator_delete {
public:
    allocator_delete() noexcept requires detail::stateless_allocator<Allocator>
    = default;
    explicit allocator_delete(Allocator& from) noexcept : from_(from) {}

    TENURE_LOCAL void operator()(T* object) const noexcept {
        object->~T();
        auto&& from = from_.get();
        from.deallocate(object, sizeof(T), alignof(T));
    }

private:
    [[no_unique_address]] detail::allocator_reference<Allocator> from_;
};

/// Destroys the elements of an array, last first, and deallocates their memory. Holds their number.
template<class T, allocator Allocator>
class allocator_delete<T[], Allocator> {
public:
    allocator_delete() noexcept requires detail::stateless_allocator<Allocator>
    = default;
    allocator_delete(Allocator& from, std::size_t count) noexcept : from_(from), count_(count) {}

    TENURE_LOCAL void operator()(T* first) const noexcept {
        detail::destroy_elements(first, count_);
        auto&& from = from_.get();
        from.deallocate(first, count_ * sizeof(T), alignof(T));
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
    [[no_unique_address]] detail::allocator_reference<Allocator> from_;
    std::size_t count_ = 0;
};

/// Destroys an object of a pool<T> or shared_pool<T>.
template<class Pool>
class pool_delete {
public:
    explicit pool_delete(Pool& pool) noexcept : pool_(&pool) {}
    TENURE_LOCAL void operator()(typename Pool::value_type* object) const noexcept { pool_->destroy(object); }

private:
    Pool* pool_;
};

class process_memory; // heap/make.hpp: include it to own what make() returns

/// Owns one object in memory of `Allocator`, by default the process heap; unique<T[]> owns an array, whose length is
/// get_deleter().count(). The allocator must outlive it.
template<class T, allocator Allocator = process_memory>
using unique = std::unique_ptr<T, allocator_delete<T, Allocator>>;

/// Owns one object of a pool. The pool must outlive it.
template<class Pool>
using pool_unique = std::unique_ptr<typename Pool::value_type, pool_delete<Pool>>;

/// Constructs an object in memory of `from`: an arena, heap, affinity group or pool, or temp, temp_job or
/// process_memory, which may be temporary objects: make_unique_in<node>(temp_job{}, 7). Returns   an empty pointer when
/// out of memory. Fails     when the constructor throws: the memory is deallocated.
template<class T, allocator Allocator, class... Arguments>
requires(!std::is_array_v<T>) [[nodiscard]] TENURE_LOCAL unique<T, Allocator> make_unique_in(
    Allocator& from, Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    T* const object = detail::make_object<T>(
        [&](std::size_t bytes, std::size_t alignment) noexcept { return from.allocate(bytes, alignment); },
        [&](void* block, std::size_t bytes, std::size_t alignment) noexcept {
            from.deallocate(block, bytes, alignment);
        },
        std::forward<Arguments>(arguments)...);
    return unique<T, Allocator>{object, allocator_delete<T, Allocator>{from}};
}

/// Constructs an array of `count` elements, as T() does: make_unique_in<float[]>(scratch, 100).
/// Returns   an empty pointer when out of memory.
template<class T, allocator Allocator>
requires(std::is_unbounded_array_v<T>) [[nodiscard]] TENURE_LOCAL unique<T, Allocator> make_unique_in(
    Allocator& from, std::size_t count) noexcept(std::is_nothrow_default_constructible_v<std::remove_extent_t<T>>) {
    const auto elements = detail::make_elements<std::remove_extent_t<T>>(
        count, [&](std::size_t bytes, std::size_t alignment) noexcept { return from.allocate(bytes, alignment); },
        [&](void* block, std::size_t bytes, std::size_t alignment) noexcept {
            from.deallocate(block, bytes, alignment);
        });
    return unique<T, Allocator>{elements.data(), allocator_delete<T, Allocator>{from, elements.size()}};
}

/// The same for an allocator without state that is a temporary object.
template<class T, class Allocator, class... Arguments>
requires(detail::stateless_allocator<Allocator> && !std::is_array_v<T>)
    [[nodiscard]] TENURE_LOCAL unique<T, Allocator> make_unique_in(Allocator&& from, Arguments&&... arguments) noexcept(
        std::is_nothrow_constructible_v<T, Arguments...>) {
    return make_unique_in<T, Allocator>(from, std::forward<Arguments>(arguments)...);
}
template<class T, class Allocator>
requires(detail::stateless_allocator<Allocator>&& std::is_unbounded_array_v<T>)
    [[nodiscard]] TENURE_LOCAL unique<T, Allocator> make_unique_in(Allocator&& from, std::size_t count) noexcept(
        std::is_nothrow_default_constructible_v<std::remove_extent_t<T>>) {
    return make_unique_in<T, Allocator>(from, count);
}

/// Says why there is no unique pointer for other arguments.
template<class T, class From, class... Arguments>
requires(!allocator<std::remove_reference_t<From>>) void make_unique_in(From&&, Arguments&&...) {
    static_assert(
        allocator<std::remove_reference_t<From>>,
        "make_unique_in<T>(from, ...): `from` must be an allocator that can free one block by its pointer, size "
        "and alignment (base/allocator.hpp). For a lifetime pass tenure::temp{}, tenure::temp_job{} or "
        "tenure::process_memory{}; for a temp_scope, tenure::temp{}. An offset_allocator has no memory.");
}

/// Constructs an object of a pool's type: make_unique_in(monsters, 7). Returns   an empty pointer when out of memory.
template<class Pool, class... Arguments>
requires requires {
    &Pool::destroy;
    typename Pool::value_type;
}
[[nodiscard]] TENURE_LOCAL pool_unique<Pool> make_unique_in(Pool& pool, Arguments&&... arguments) {
    return pool_unique<Pool>{pool.construct(std::forward<Arguments>(arguments)...), pool_delete<Pool>{pool}};
}

/// Constructs an object in a pool. Returns   an empty pointer when out of memory.
template<class Pool, class... Arguments>
[[nodiscard]] TENURE_LOCAL pool_unique<Pool> make_unique_in_pool(Pool& pool, Arguments&&... arguments) {
    return pool_unique<Pool>{pool.construct(std::forward<Arguments>(arguments)...), pool_delete<Pool>{pool}};
}

}
