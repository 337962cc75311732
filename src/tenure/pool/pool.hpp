// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// pool: objects of one type, constructed and destroyed in any order.
///
/// Use it for     many objects of one type that come and go: monsters, effects, nodes.
/// Not for        mixed types, nor objects that are all freed together: see arena/arena.hpp.
/// Memory from    a block source, as pool/block_pool.hpp.
/// Cost           construct and destroy O(1) plus the constructor and destructor. clear O(objects), or O(segments) and
///                a bit per object if the type has a trivial destructor.
/// Overhead       no header: the stride is sizeof(T). One bit per object and one per 64 objects, apart from the
///                objects.
/// Threads        one thread at a time; for several threads see pool/shared_pool.hpp.
/// Fork           usable in the child, unless another thread was using it at the time of the fork.
/// When full      acquires another segment; if that fails, construct returns nullptr and leaves the pool unchanged.
/// Example        examples/pool.cpp

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/pool/block_pool.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

/// Frees a block unless its object was constructed. It replaces try and catch in builds without exceptions.
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
    require_makeable<T>();
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

    /// Acquires nothing from the source until the first object. Requires  `source` outlives the pool.
    [[nodiscard]] explicit pool(block_source& source = page_source::process()) noexcept
        : blocks_(sizeof(T), alignof(T), source) {
        if constexpr (checks::caller) detail::name_holder(&blocks_, detail::signature_of<T>());
    }

    /// Destroys the live objects and releases all memory.
    ~pool() { destroy_living(); }
    /// Takes over the objects of `other`, which is empty afterwards and can be used. Objects stay where they are.
    [[nodiscard]] pool(pool&&) noexcept = default;
    /// Destroys this pool's live objects before.
    pool& operator=(pool&& other) noexcept {
        if (this == &other) return *this;
        destroy_living();
        blocks_ = std::move(other.blocks_);
        return *this;
    }

    /// Constructs an object.
    /// Returns   nullptr when out of memory.
    /// Fails     when the constructor throws: the memory is freed and no destructor runs.
    template<class... Arguments>
    [[nodiscard]] T* construct(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        void* const block = blocks_.allocate_strided(sizeof(T));
        if (block == nullptr) [[unlikely]]
            return nullptr;
        return detail::construct_in<T>(blocks_, block, std::forward<Arguments>(arguments)...);
    }

    /// Destroys an object. nullptr is allowed and does nothing.
    /// Requires  `object` was constructed by this pool and has not been destroyed.
    void destroy(T* object) noexcept {
        if (object == nullptr) return;
        object->~T();
        blocks_.deallocate_strided(object, sizeof(T));
    }

    /// Memory for one object, not constructed, in the form of the allocator concept. The pool takes its contents for a
    /// live T in clear(), for_each() and ~pool(): construct an object in it or deallocate it before.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return blocks_.allocate(bytes, alignment);
    }
    void deallocate(void* block, std::size_t, std::size_t) noexcept { blocks_.deallocate(block); }

    /// Destroys the live objects, frees every block and retains the pages.
    /// Requires  no destructor of T constructs or destroys another object of this pool; the same holds for ~pool().
    void clear() noexcept {
        destroy_living();
        blocks_.clear();
    }

    /// Releases empty segments and decommits empty pages. Returns the bytes returned.
    std::size_t trim() noexcept { return blocks_.trim(); }

    [[nodiscard]] bool owns(const void* pointer) const noexcept { return blocks_.owns(pointer); }
    [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] allocator_stats stats() const noexcept { return blocks_.stats(); }
    [[nodiscard]] bool valid() noexcept { return blocks_.valid(); }

    /// As block_pool::unmoved_home().
    using home_owner = block_pool;
    [[nodiscard]] detail::owner_home* unmoved_home() noexcept { return blocks_.unmoved_home(); }
    /// As destroy(), in the pool that has this home. `object` is not nullptr.
    static void destroy_in(home_owner& blocks, T* object) noexcept {
        object->~T();
        blocks.deallocate_strided(object, sizeof(T));
    }

    /// The live objects, for a loop: lowest address first within a segment. The loop may destroy the object that it is
    /// at, and must not otherwise use the pool.
    using iterator = detail::pool_iterator<T>;
    [[nodiscard]] iterator begin() noexcept { return iterator(blocks_.first_block()); }
    [[nodiscard]] iterator end() noexcept { return {}; }

    /// Calls `visit(T&)` for every live object, lowest address first within a segment. A visit may destroy the object
    /// it receives, and must not otherwise use the pool.
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
