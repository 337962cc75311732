// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Constructing and destroying the elements of an array, without <memory>, which costs each file that includes it 0.3
/// s.

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Names the reason why no object of T can be made.
template<class T>
constexpr void require_makeable() noexcept {
    static_assert(!std::is_array_v<T>, "T is an array: make arrays with make_array<Element>(count), or with "
                                       "make_unique_in<Element[]>(from, count)");
    static_assert(std::is_object_v<T>, "T is not the type of an object");
    static_assert(!std::is_abstract_v<T>, "T is abstract: make an object of a class that is derived from it");
}
/// Also where destroying it is the caller's, later.
template<class T>
constexpr void require_destructible() noexcept {
    static_assert(std::is_array_v<T> || std::is_abstract_v<T> || std::is_destructible_v<T>,
                  "the destructor of T is private, protected or deleted: nothing could destroy the object");
}

/// Destroys the elements, last first.
template<class T>
constexpr void destroy_elements(T* first, std::size_t count) noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
        while (count != 0) first[--count].~T();
    }
}

/// Destroys what was constructed so far unless all elements are. It replaces try and catch in builds without
/// exceptions.
template<class T>
class elements_under_construction {
public:
    explicit elements_under_construction(T* first) noexcept : first_(first) {}
    ~elements_under_construction() { destroy_elements(first_, count_); }
    elements_under_construction(const elements_under_construction&) = delete;
    elements_under_construction& operator=(const elements_under_construction&) = delete;

    /// Where the next element is to be constructed.
    [[nodiscard]] void* next() const noexcept { return first_ + count_; }
    void constructed_one() noexcept { ++count_; }
    void succeeded() noexcept { count_ = 0; }

private:
    T* first_;
    std::size_t count_ = 0;
};

/// Constructs elements as T() does: numbers are zero. If a constructor throws, destroys the elements before it.
template<class T>
void construct_elements(T* first, std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>) {
    if constexpr (std::is_nothrow_default_constructible_v<T>) {
        for (std::size_t index = 0; index < count; ++index) ::new (static_cast<void*>(first + index)) T();
    } else {
        elements_under_construction<T> made(first);
        for (std::size_t index = 0; index < count; ++index, made.constructed_one()) ::new (made.next()) T();
        made.succeeded();
    }
}

/// Constructs copies of the elements at `from`.
template<class T>
void copy_elements(const T* from, std::size_t count, T* first) noexcept {
    static_assert(std::is_nothrow_copy_constructible_v<T>);
    if constexpr (std::is_trivially_copyable_v<T>) {
        if (count != 0) std::memcpy(static_cast<void*>(first), from, count * sizeof(T));
    } else {
        for (std::size_t index = 0; index < count; ++index) ::new (static_cast<void*>(first + index)) T(from[index]);
    }
}

}
