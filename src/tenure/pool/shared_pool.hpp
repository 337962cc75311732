// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// shared_pool: objects of one type, constructed and destroyed by any thread in any order.
///
/// Use it for     objects of one type that threads pass to each other.
/// Not for        objects that stay with one thread: see pool/pool.hpp.
/// Memory from    a block source, as pool/block_pool.hpp.
/// Cost           construct and destroy O(1) in the thread's cache; one lock per 128 calls of each, more often for
///                objects larger than 512 bytes.
/// Overhead       as pool. Per thread that uses it: 4 KiB, and a cache of up to 256 objects or 128 KiB, at least one
///                object.
/// Threads        any; no other thread may use the pool during clear, trim, for_each and destruction.
/// Fork           as pool/shared_block_pool.hpp.
/// When full      acquires another segment; if that fails, construct returns nullptr and leaves the pool unchanged.
/// Example        examples/shared_pool.cpp

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/base/config.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>

namespace tenure::inline TENURE_ABI {

template<class T>
class shared_pool {
    static_assert(sizeof(T) <= block_pool::max_block_bytes);

public:
    using value_type = T;

    [[nodiscard]] TENURE_LOCAL explicit shared_pool(block_source& source = page_source::process()) noexcept
        : blocks_(sizeof(T), alignof(T), source) {
        if constexpr (checks::caller) detail::name_holder(blocks_.core_, detail::signature_of<T>());
    }

    /// Destroys the live objects and releases all memory.
    TENURE_LOCAL ~shared_pool() { destroy_living(); }
    /// Takes over the objects and the threads' caches of `other`. From then on `other` is empty and every construct()
    /// of it returns nullptr; it can be assigned to. Requires  no other thread uses either pool meanwhile.
    [[nodiscard]] shared_pool(shared_pool&&) noexcept = default;
    /// Destroys this pool's live objects before.
    TENURE_LOCAL shared_pool& operator=(shared_pool&& other) noexcept {
        if (this == &other) return *this;
        destroy_living();
        blocks_ = std::move(other.blocks_);
        return *this;
    }

    /// As shared_block_pool::is_usable().
    [[nodiscard]] bool is_usable() const noexcept { return blocks_.is_usable(); }

    /// Constructs an object.
    /// Returns   nullptr when out of memory.
    /// Fails     when the constructor throws: the memory is freed and no destructor runs.
    template<class... Arguments>
    [[nodiscard]] TENURE_LOCAL T*
    construct(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        void* const block = blocks_.allocate();
        if (block == nullptr) [[unlikely]]
            return nullptr;
        return detail::construct_in<T>(blocks_, block, std::forward<Arguments>(arguments)...);
    }

    /// Destroys an object. nullptr is allowed and does nothing.
    TENURE_LOCAL void destroy(T* object) noexcept {
        if (object == nullptr) return;
        object->~T();
        blocks_.deallocate(object);
    }

    /// Memory for one object, not constructed: as pool::allocate().
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return blocks_.allocate(bytes, alignment);
    }
    TENURE_LOCAL void deallocate(void* block, std::size_t, std::size_t) noexcept { blocks_.deallocate(block); }

    /// Destroys the live objects, frees every block and retains the pages.
    /// Requires  no destructor of T constructs or destroys another object of this pool, and no other thread uses the
    ///           pool; the same holds for ~shared_pool().
    TENURE_LOCAL void clear() noexcept {
        destroy_living();
        blocks_.clear();
    }
    std::size_t trim() noexcept { return blocks_.trim(); }

    [[nodiscard]] bool owns(const void* pointer) const noexcept { return blocks_.owns(pointer); }
    [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] allocator_stats stats() const noexcept { return blocks_.stats(); }
    [[nodiscard]] bool valid() noexcept { return blocks_.valid(); }

    /// As shared_block_pool::unmoved_home().
    using home_owner = shared_block_pool;
    [[nodiscard]] detail::owner_home* unmoved_home() noexcept { return blocks_.unmoved_home(); }
    /// As destroy(), in the pool that has this home. `object` is not nullptr.
    TENURE_LOCAL static void destroy_in(home_owner& blocks, T* object) noexcept {
        object->~T();
        blocks.deallocate(object);
    }

    /// The live objects, for a loop: lowest address first within a segment. The loop may destroy the object that it is
    /// at, and must not otherwise use the pool. Requires  no other thread uses the pool meanwhile.
    using iterator = detail::pool_iterator<T>;
    [[nodiscard]] iterator begin() noexcept { return iterator(blocks_.first_block()); }
    [[nodiscard]] iterator end() noexcept { return {}; }

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

    shared_block_pool blocks_;
};

}
