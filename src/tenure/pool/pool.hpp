// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Objects of one type, constructed and destroyed in any order.
///
/// Use it for     many objects of one type that come and go: monsters, effects, nodes.
/// Not for        mixed types, nor objects that all die together: see arena/arena.hpp.
/// Memory from    a block source, as pool/block_pool.hpp.
/// Cost           construct and destroy O(1) beside the constructor and destructor; clear of a type without a
///                destructor O(segments) and a bit per object, otherwise O(objects).
/// Overhead       none per object: the stride is sizeof(T); one bit per object and 1/64 of that, apart from them.
/// Threads        one thread at a time: see pool/shared_pool.hpp for the other case.
/// Fork           usable in the child, unless another thread was using it just then.
/// When full      asks the source; if refused, construct returns null and changes nothing.
/// Example        examples/pool.cpp

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/base/config.hpp>
#include <tenure/pool/block_pool.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

/// Gives a block back unless its object came to be: what is left of try and catch in builds without exceptions.
template<class Pool>
class construction {
public:
    construction(Pool& pool, void* block) noexcept : pool_(pool), block_(block) {}
    ~construction() {
        if (block_ != nullptr) pool_.deallocate(block_);
    }
    construction(const construction&) = delete;
    construction& operator=(const construction&) = delete;
    void succeeded() noexcept { block_ = nullptr; }

private:
    Pool& pool_;
    void* block_;
};

template<class T, class Pool, class... Arguments>
[[nodiscard]] T* construct_in(Pool& pool, void* block, Arguments&&... arguments) {
    if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
        return ::new (block) T(std::forward<Arguments>(arguments)...);
    } else {
        construction<Pool> guard(pool, block);
        T* const object = ::new (block) T(std::forward<Arguments>(arguments)...);
        guard.succeeded();
        return object;
    }
}

}

template<class T>
class pool {
    static_assert(sizeof(T) <= block_pool::max_block_bytes);

public:
    using value_type = T;

    /// Takes nothing from the source until the first object. Requires  `source` outlives the pool.
    explicit pool(block_source& source = page_source::process()) noexcept : blocks_(sizeof(T), alignof(T), source) {}

    /// Destroys the living and gives everything back.
    ~pool() { destroy_living(); }
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

    /// Constructs an object.
    /// Returns   null when memory is refused.
    /// Fails     when the constructor throws: the memory is free again and nothing was destroyed.
    template<class... Arguments>
    [[nodiscard]] T* construct(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        void* const block = blocks_.allocate_strided(sizeof(T));
        if (block == nullptr) [[unlikely]]
            return nullptr;
        return detail::construct_in<T>(blocks_, block, std::forward<Arguments>(arguments)...);
    }

    /// Destroys an object. Null is allowed and does nothing.
    /// Requires  `object` was constructed by this pool and not destroyed since.
    void destroy(T* object) noexcept {
        if (object == nullptr) return;
        object->~T();
        blocks_.deallocate(object);
    }

    /// Memory for one object, not constructed, in the shape of the allocator concept. The pool cannot tell it from an
    /// object: clear(), for_each() and the pool's end take what is in it for a living T, so construct one or give it
    /// back before.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return blocks_.allocate(bytes, alignment);
    }
    void deallocate(void* block, std::size_t, std::size_t) noexcept { blocks_.deallocate(block); }

    /// Destroys the living and drops everything; pages are kept.
    /// Requires  no destructor of T constructs or destroys another object of this pool meanwhile; the same holds for
    ///           ~pool().
    void clear() noexcept {
        destroy_living();
        blocks_.clear();
    }

    /// Gives back the memory of empty segments and pages. Returns the bytes given back.
    std::size_t trim() noexcept { return blocks_.trim(); }

    [[nodiscard]] bool owns(const void* pointer) const noexcept { return blocks_.owns(pointer); }
    [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] allocator_stats stats() const noexcept { return blocks_.stats(); }
    [[nodiscard]] bool valid() noexcept { return blocks_.valid(); }

    /// Calls `visit(T&)` for the living, lowest address first within a segment. A visit may destroy the object that it
    /// is given, and must not otherwise use the pool.
    template<class Visit>
    void for_each(Visit&& visit) {
        blocks_.for_each([&](void* block) { visit(*std::launder(static_cast<T*>(block))); });
    }

private:
    void destroy_living() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            for_each([](T& object) { object.~T(); });
        }
    }

    block_pool blocks_;
};

}
