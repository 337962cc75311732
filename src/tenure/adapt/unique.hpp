// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Owning pointers over any allocator and any pool of this library.
///
/// Moves          the allocator, pool, group or heap may move: its pointers free into it where it is then. So
///                `struct level { pool<monster> p; std::vector<pool_unique<...>> v; }` works in a std::vector that
///                grows. An allocator that has no home of its own (base/owner_home.hpp) must stay where it is.
/// Ends           the owner must outlive its pointers: declare it before them. A pointer that frees later does nothing
///                while fewer than 256 other owners have ended since, because the memory is gone; checked builds report
///                it, whatever their number. A struct that is assigned to must reset its pointers before its pool takes
///                over the other one's objects: erase() of a std::vector assigns.
/// Empty          a pointer may be declared without an owner, and gets it with its first object: `pool_unique<...> one;
///                one = make_unique_in(monsters, 7);`. reset(object) does not give it one.
/// Cost           an owner's first pointer creates its home: a lock, and 24 bytes. Each free loads the owner's address.
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

namespace detail {

/// Allocators that free a block by its address alone. An affinity group does so only if it was created for it.
template<class A>
concept frees_without_size = requires(A& a, void* block) {
    a.deallocate(block);
}
&&!requires(A & a) { a.sizes(); };

/// Allocators for which a lower bound of a block's size is worth naming.
template<class A>
concept frees_at_least = requires(A& a, void* block) {
    a.deallocate_at_least(block, std::size_t{1});
};

/// Whether a unique<Base> may own what make_unique_in<Object>() returns: ~Object() must run, and the whole object must
/// be freed, so Base needs a virtual destructor, and the allocator must not need the size.
template<class Base, class Object, class A>
concept owned_as_base = !std::is_same_v<Base, Object> && std::is_convertible_v<Object*, Base*> &&
                        ((std::has_virtual_destructor_v<Base> && frees_without_size<A>) ||
                         std::is_same_v<std::remove_cv_t<Base>, std::remove_cv_t<Object>>);

/// A pool<T> destroys what it holds as T.
template<class T, class A>
constexpr void require_own_objects() noexcept {
    if constexpr (requires {
                      typename A::value_type;
                      &A::destroy;
                  }) {
        static_assert(
            std::is_same_v<std::remove_cv_t<T>, typename A::value_type>,
            "a pool<T> holds single objects of type T: use make_unique_in(pool, arguments...), or a heap or an "
            "arena for arrays and other types");
    }
}

}

/// Destroys an object and deallocates its memory. As large as a pointer; empty for a stateless allocator.
///
/// A unique pointer to an object converts to one to a base with a virtual destructor if the allocator frees without a
/// size: the process heap, a heap, Temp, TempJob and block pools. An arena or affinity group would need the size of the
/// whole object, which the base does not know. Temp rewinds by the size of T: an object of a larger derived class is
/// freed when its scope, reset or frame ends.
template<class T, allocator Allocator>
class allocator_delete {
public:
    /// The deleter of an empty pointer: it names no allocator, except a stateless one.
    constexpr allocator_delete() noexcept = default;
    explicit allocator_delete(Allocator& from) noexcept : from_(from) {}
    template<class Object>
    requires detail::owned_as_base<T, Object, Allocator>
    allocator_delete(const allocator_delete<Object, Allocator>& other)
    noexcept // NOLINT: implicit, as std::default_delete's
        : from_(other.from_) {}

    TENURE_LOCAL void operator()(T* object) const noexcept {
        from_.use(object, [&](auto& from) noexcept {
            void* const block = detail::whole_object(object);
            object->~T();
            if constexpr (!std::has_virtual_destructor_v<T> || std::is_final_v<T> ||
                          !detail::frees_without_size<Allocator>) {
                from.deallocate(block, sizeof(T), alignof(T));
            } else if constexpr (detail::frees_at_least<Allocator>) {
                from.deallocate_at_least(block, sizeof(T));
            } else {
                from.deallocate(block);
            }
        });
    }
    [[nodiscard]] bool is_usable() const noexcept { return from_.is_usable(); }

private:
    template<class, allocator>
    friend class allocator_delete;
    [[no_unique_address]] detail::deleter_reference<Allocator> from_;
};

/// Destroys the elements of an array, last first, and deallocates their memory. Holds their number.
template<class T, allocator Allocator>
class allocator_delete<T[], Allocator> {
public:
    constexpr allocator_delete() noexcept = default;
    allocator_delete(Allocator& from, std::size_t count) noexcept : from_(from), count_(count) {}

    TENURE_LOCAL void operator()(T* first) const noexcept {
        from_.use(first, [&](auto& from) noexcept {
            detail::destroy_elements(first, count_);
            from.deallocate(first, count_ * sizeof(T), alignof(T));
        });
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] bool is_usable() const noexcept { return from_.is_usable(); }

private:
    [[no_unique_address]] detail::deleter_reference<Allocator> from_;
    std::size_t count_ = 0;
};

/// Destroys an object of a pool.
template<class Pool>
class pool_delete {
public:
    /// The deleter of an empty pointer: it names no pool.
    constexpr pool_delete() noexcept = default;
    explicit pool_delete(Pool& pool) noexcept : pool_(&pool) {}
    TENURE_LOCAL void operator()(typename Pool::value_type* object) const noexcept {
        if (checks::caller && pool_ == nullptr) [[unlikely]]
            return detail::report_without_owner(object);
        pool_->destroy(object);
    }
    [[nodiscard]] static constexpr bool is_usable() noexcept { return true; }

private:
    Pool* pool_ = nullptr;
};

/// The same for a pool<T> or shared_pool<T>, which may move.
template<class Pool>
requires(detail::has_home<Pool>) class pool_delete<Pool> {
public:
    constexpr pool_delete() noexcept = default;
    explicit pool_delete(Pool& pool) noexcept : from_(pool) {}
    TENURE_LOCAL void operator()(typename Pool::value_type* object) const noexcept {
        from_.use(object, [&](typename Pool::home_owner& from) noexcept { Pool::destroy_in(from, object); });
    }
    [[nodiscard]] bool is_usable() const noexcept { return from_.is_usable(); }

private:
    detail::deleter_reference<Pool> from_;
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
    detail::require_own_objects<T, Allocator>();
    const allocator_delete<T, Allocator> deleter{from};
    if (!deleter.is_usable()) [[unlikely]]
        return unique<T, Allocator>{nullptr, deleter};
    T* const object = detail::make_object<T>(
        [&](std::size_t bytes, std::size_t alignment) noexcept { return from.allocate(bytes, alignment); },
        [&](void* block, std::size_t bytes, std::size_t alignment) noexcept {
            from.deallocate(block, bytes, alignment);
        },
        std::forward<Arguments>(arguments)...);
    return unique<T, Allocator>{object, deleter};
}

/// Constructs an array of `count` elements, as T() does: make_unique_in<float[]>(scratch, 100).
/// Returns   an empty pointer when out of memory.
template<class T, allocator Allocator>
requires(std::is_unbounded_array_v<T>) [[nodiscard]] TENURE_LOCAL unique<T, Allocator> make_unique_in(
    Allocator& from, std::size_t count) noexcept(std::is_nothrow_default_constructible_v<std::remove_extent_t<T>>) {
    detail::require_own_objects<T, Allocator>();
    if (!allocator_delete<T, Allocator>{from, 0}.is_usable()) [[unlikely]]
        return unique<T, Allocator>{nullptr, allocator_delete<T, Allocator>{from, 0}};
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

/// Says how arrays are made.
template<class T, class From, class... Arguments>
requires(std::is_bounded_array_v<T>) void make_unique_in(From&&, Arguments&&...) {
    static_assert(!std::is_bounded_array_v<T>,
                  "make_unique_in<T[4]>(from): use make_unique_in<T[]>(from, 4), whose pointer knows its length");
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

/// Constructs an object in a pool. Returns   an empty pointer when out of memory.
template<class Pool, class... Arguments>
[[nodiscard]] TENURE_LOCAL pool_unique<Pool> make_unique_in_pool(Pool& pool, Arguments&&... arguments) {
    const pool_delete<Pool> deleter{pool};
    return pool_unique<Pool>{deleter.is_usable() ? pool.construct(std::forward<Arguments>(arguments)...) : nullptr,
                             deleter};
}

/// Constructs an object of a pool's type: make_unique_in(monsters, 7). Returns   an empty pointer when out of memory.
template<class Pool, class... Arguments>
requires requires {
    &Pool::destroy;
    typename Pool::value_type;
}
[[nodiscard]] TENURE_LOCAL pool_unique<Pool> make_unique_in(Pool& pool, Arguments&&... arguments) {
    return make_unique_in_pool(pool, std::forward<Arguments>(arguments)...);
}

}
