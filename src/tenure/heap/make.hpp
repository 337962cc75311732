// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Objects and arrays on the process heap. Out of memory is reported by nullptr, not by an exception.
///
/// Use it for     single objects and arrays that live until they are destroyed one by one.
/// Not for        many objects of one type: pool/pool.hpp.
/// Memory from    the process heap: heap/heap.hpp.
/// Cost           a pop and a push in the thread cache; the size class is computed at compile time.
/// Overhead       none beyond the rounding of sizes; arrays store no count, so destroy_array() takes it.
/// Threads        any thread may create an object, and any other may destroy it.
/// Fork           as heap/heap.hpp.
/// When full      returns nullptr. If a constructor throws, the memory is freed and the exception propagates.
/// Example        examples/heap.cpp

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/base/config.hpp>
#include <tenure/heap/heap.hpp>

namespace tenure::inline TENURE_ABI {

/// The process heap as a stateless allocator, for stl_allocator, unique and other adaptors.
class process_memory {
public:
    [[nodiscard]] TENURE_LOCAL static void* allocate(std::size_t bytes,
                                                     std::size_t alignment = default_alignment) noexcept {
        return detail::process_allocate(bytes, alignment);
    }
    TENURE_LOCAL static void deallocate(void* block, std::size_t bytes,
                                        std::size_t alignment = default_alignment) noexcept {
        detail::process_deallocate(block, bytes, alignment);
    }
    [[nodiscard]] static bool owns(const void* pointer) noexcept { return heap::process().owns(pointer); }
};

namespace detail {

/// Frees its memory unless released: for constructors that throw.
class unmade_block {
public:
    TENURE_LOCAL unmade_block(std::size_t bytes, std::size_t alignment) noexcept
        : block(process_allocate(bytes, alignment)), bytes_(bytes), alignment_(alignment) {}
    TENURE_LOCAL ~unmade_block() {
        if (block != nullptr) process_deallocate(block, bytes_, alignment_);
    }
    unmade_block(const unmade_block&) = delete;
    unmade_block& operator=(const unmade_block&) = delete;

    void* block;

private:
    std::size_t bytes_;
    std::size_t alignment_;
};

}

/// Constructs an object. Returns   nullptr when out of memory.
template<class T, class... Arguments>
[[nodiscard]] TENURE_LOCAL T*
make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    detail::unmade_block memory(sizeof(T), alignof(T));
    if (memory.block == nullptr) [[unlikely]]
        return nullptr;
    T* const object = ::new (memory.block) T(std::forward<Arguments>(arguments)...);
    memory.block = nullptr;
    return object;
}

/// Destroys an object that make() created. nullptr is allowed and does nothing.
/// Requires  T is the type of the object, or a base of it with a virtual destructor.
template<class T>
TENURE_LOCAL void destroy(T* object) noexcept {
    if (object == nullptr) return;
    if constexpr (std::has_virtual_destructor_v<T>) {
        void* const block = const_cast<void*>(dynamic_cast<const volatile void*>(object));
        object->~T();
        detail::process_deallocate(block);
    } else {
        object->~T();
        detail::process_deallocate(const_cast<std::remove_cv_t<T>*>(object), sizeof(T), alignof(T));
    }
}

/// Constructs `count` objects as T() does: numbers are zero.
/// Returns   nullptr when out of memory or when the size in bytes overflows; an address even for zero objects.
template<class T>
[[nodiscard]] TENURE_LOCAL T* make_array(std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>) {
    if (count > max_object_bytes / sizeof(T)) return nullptr;
    if constexpr (std::is_arithmetic_v<T> || std::is_pointer_v<T>) { // large ones are zero and untouched
        return static_cast<T*>(heap::process().allocate(count * sizeof(T), alignof(T), fill::zero));
    }
    detail::unmade_block memory(count * sizeof(T), alignof(T));
    if (memory.block == nullptr) [[unlikely]]
        return nullptr;
    auto* const first = static_cast<T*>(memory.block);
    std::uninitialized_value_construct_n(first, count); // destroys the objects made so far if a constructor throws
    memory.block = nullptr;
    return first;
}

/// Destroys an array that make_array() created, last object first. nullptr is allowed and does nothing.
/// Requires  `count` is the count that it was created with.
template<class T>
TENURE_LOCAL void destroy_array(T* first, std::size_t count) noexcept {
    if (first == nullptr) return;
    if constexpr (!std::is_trivially_destructible_v<T>) {
        for (std::size_t left = count; left != 0; --left) first[left - 1].~T();
    }
    detail::process_deallocate(const_cast<std::remove_cv_t<T>*>(first), count * sizeof(T), alignof(T));
}

}
