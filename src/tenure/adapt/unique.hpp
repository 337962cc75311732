// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Owning pointers over any allocator and any pool of this library.

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/adapt/allocator_reference.hpp>
#include <tenure/base/config.hpp>

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

/// Owns one object in memory of `Allocator`, by default the process heap. The allocator must outlive it.
template<class T, allocator Allocator = process_memory>
using unique = std::unique_ptr<T, allocator_delete<T, Allocator>>;

/// Owns one object of a pool. The pool must outlive it.
template<class Pool>
using pool_unique = std::unique_ptr<typename Pool::value_type, pool_delete<Pool>>;

/// Constructs an object in memory of `from`. Returns   an empty pointer when out of memory.
/// Fails     when the constructor throws: the memory is deallocated.
template<class T, allocator Allocator, class... Arguments>
[[nodiscard]] TENURE_LOCAL unique<T, Allocator>
make_unique_in(Allocator& from, Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    struct memory {
        Allocator& from;
        void* block;
        ~memory() {
            if (block != nullptr) from.deallocate(block, sizeof(T), alignof(T));
        }
    };
    memory held{from, from.allocate(sizeof(T), alignof(T))};
    if (held.block == nullptr) return unique<T, Allocator>{nullptr, allocator_delete<T, Allocator>{from}};
    T* const object = ::new (held.block) T(std::forward<Arguments>(arguments)...);
    held.block = nullptr;
    return unique<T, Allocator>{object, allocator_delete<T, Allocator>{from}};
}

/// Constructs an object in a pool. Returns   an empty pointer when out of memory.
template<class Pool, class... Arguments>
[[nodiscard]] TENURE_LOCAL pool_unique<Pool> make_unique_in_pool(Pool& pool, Arguments&&... arguments) {
    return pool_unique<Pool>{pool.construct(std::forward<Arguments>(arguments)...), pool_delete<Pool>{pool}};
}

}
