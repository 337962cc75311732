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
/// Overhead       none beyond the rounding of sizes; arrays store no count: they are spans.
/// Threads        any thread may create an object, and any other may destroy it.
/// Fork           as heap/heap.hpp.
/// When full      returns nullptr. If a constructor throws, the memory is freed and the exception propagates.
/// Example        examples/heap.cpp

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>
#include <tenure/base/typed.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/heap/detail/checked/made_objects.hpp>
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
    /// Frees a block of unknown size.
    TENURE_LOCAL static void deallocate(void* block) noexcept { detail::process_deallocate(block); }
    [[nodiscard]] static bool owns(const void* pointer) noexcept { return heap::process().owns(pointer); }
};

namespace detail {
/// For an object or array whose constructor throws.
TENURE_LOCAL inline void deallocate_unmade(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    process_deallocate(block, bytes, alignment);
}
template<class T>
TENURE_LOCAL inline void note_made_array(const void* memory, std::size_t count, void* next_caller) noexcept {
    if constexpr (checks::caller) {
        if (memory != nullptr) note_made(memory, signature_of<T[]>(), count * sizeof(T), next_caller);
    }
}
}

/// Constructs an object. Returns   nullptr when out of memory.
template<class T, class... Arguments>
[[nodiscard]] TENURE_LOCAL T*
make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    T* const object = detail::make_object<T>(&process_memory::allocate, &detail::deallocate_unmade,
                                             std::forward<Arguments>(arguments)...);
    if constexpr (checks::caller) {
        if (object != nullptr) detail::note_made(object, detail::signature_of<T>(), sizeof(T), TENURE_RETURN_ADDRESS());
    }
    return object;
}

/// Destroys an object that make() created. nullptr is allowed and does nothing.
/// Requires  T is the type of the object, or a base of it with a virtual destructor.
template<class T>
TENURE_LOCAL void destroy(T* object) noexcept {
    if (object == nullptr) return;
    void* const block = detail::whole_object(object);
    object->~T();
    if constexpr (std::has_virtual_destructor_v<T>) {
        detail::process_deallocate(block);
    } else {
        detail::process_deallocate(block, sizeof(T), alignof(T));
    }
}

/// Constructs `count` elements as T() does: numbers are zero.
/// Returns   an empty span when out of memory or when the size in bytes overflows. Free it with destroy_array(), also
///           if `count` is zero.
template<class T>
[[nodiscard]] TENURE_LOCAL std::span<T>
make_array(std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>) {
    if constexpr (std::is_arithmetic_v<T> || std::is_pointer_v<T>) { // large ones are zero and untouched
        if (count > max_object_bytes / sizeof(T)) return {};
        void* const memory = heap::process().allocate(count * sizeof(T), alignof(T), fill::zero);
        detail::note_made_array<T>(memory, count, TENURE_RETURN_ADDRESS());
        return {static_cast<T*>(memory), memory != nullptr ? count : 0};
    } else {
        const std::span<T> made =
            detail::make_elements<T>(count, &process_memory::allocate, &detail::deallocate_unmade);
        detail::note_made_array<T>(made.data(), count, TENURE_RETURN_ADDRESS());
        return made;
    }
}

/// Destroys an array that make_array() created, last element first. An empty span is allowed.
template<class T>
TENURE_LOCAL void destroy_array(std::span<T> elements) noexcept {
    detail::destroy_elements(elements.data(), elements.size());
    if (elements.data() != nullptr) process_memory::deallocate(elements.data(), elements.size_bytes(), alignof(T));
}

}
