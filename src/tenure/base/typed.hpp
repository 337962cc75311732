// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The typed forms that every allocator has: allocate<T>(count), make<T>(arguments…), make_array<T>(count), and
/// destroy() where single objects can be freed. The allocators' headers declare them; this one implements them once.

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// The memory of `count` elements, in which nothing was constructed. `Allocate` is a function of size and alignment.
template<class T, class Allocate>
[[nodiscard]] TENURE_LOCAL inline std::span<T> allocate_elements(std::size_t count, Allocate&& allocate) noexcept {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "allocate<T>(count): T is the type of one element");
    static_assert(std::is_trivially_default_constructible_v<T>,
                  "allocate<T>() returns memory in which no object was constructed, but T has a constructor, an "
                  "initialiser of a member, or a destructor: use make<T>(arguments...) or make_array<T>(count)");
    if (count > max_object_bytes / sizeof(T)) [[unlikely]]
        return {};
    void* const memory = allocate(count * sizeof(T), alignof(T));
    return {static_cast<T*>(memory), memory != nullptr ? count : 0};
}

/// Frees memory unless an object was constructed in it. `Deallocate` is a function of pointer, size and alignment.
template<class Deallocate>
class memory_under_construction {
public:
    TENURE_LOCAL memory_under_construction(void* memory, std::size_t bytes, std::size_t alignment,
                                           Deallocate& deallocate) noexcept
        : memory_(memory), bytes_(bytes), alignment_(alignment), deallocate_(deallocate) {}
    TENURE_LOCAL ~memory_under_construction() {
        if (memory_ != nullptr) deallocate_(memory_, bytes_, alignment_);
    }
    memory_under_construction(const memory_under_construction&) = delete;
    memory_under_construction& operator=(const memory_under_construction&) = delete;
    void succeeded() noexcept { memory_ = nullptr; }

private:
    void* memory_;
    std::size_t bytes_;
    std::size_t alignment_;
    Deallocate& deallocate_;
};

/// Returns   nullptr when out of memory. When the constructor throws, the memory is freed.
template<class T, class Allocate, class Deallocate, class... Arguments>
[[nodiscard]] TENURE_LOCAL inline T*
make_object(Allocate&& allocate, Deallocate&& deallocate,
            Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    require_makeable<T>();
    require_destructible<T>();
    void* const memory = allocate(sizeof(T), alignof(T));
    if (memory == nullptr) [[unlikely]]
        return nullptr;
    if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
        return ::new (memory) T(std::forward<Arguments>(arguments)...);
    } else {
        memory_under_construction<std::remove_reference_t<Deallocate>> made(memory, sizeof(T), alignof(T), deallocate);
        T* const object = ::new (memory) T(std::forward<Arguments>(arguments)...);
        made.succeeded();
        return object;
    }
}

/// Constructs elements as T() does. Returns   an empty span when out of memory. When a constructor throws, the elements
/// before it are destroyed and the memory is freed.
template<class T, class Allocate, class Deallocate>
[[nodiscard]] TENURE_LOCAL inline std::span<T>
make_elements(std::size_t count, Allocate&& allocate,
              Deallocate&& deallocate) noexcept(std::is_nothrow_default_constructible_v<T>) {
    require_makeable<T>();
    require_destructible<T>();
    if (count > max_object_bytes / sizeof(T)) [[unlikely]]
        return {};
    void* const memory = allocate(count * sizeof(T), alignof(T));
    if (memory == nullptr) [[unlikely]]
        return {};
    auto* const first = static_cast<T*>(memory);
    if constexpr (std::is_nothrow_default_constructible_v<T>) {
        construct_elements(first, count);
    } else {
        memory_under_construction<std::remove_reference_t<Deallocate>> made(memory, count * sizeof(T), alignof(T),
                                                                            deallocate);
        construct_elements(first, count);
        made.succeeded();
    }
    return {first, count};
}

/// The start of the whole object of which `object` is a base, if T has a virtual destructor.
template<class T>
[[nodiscard]] TENURE_LOCAL inline void* whole_object(T* object) noexcept {
    if constexpr (std::has_virtual_destructor_v<T>) {
        return const_cast<void*>(dynamic_cast<const volatile void*>(object));
    } else {
        return const_cast<std::remove_cv_t<T>*>(object);
    }
}

/// Whether memory that is freed without destructors may hold a T.
template<class T>
constexpr void require_no_destructor() noexcept {
    static_assert(std::is_trivially_destructible_v<T>,
                  "this memory is freed as a whole and runs no destructors, but T has one: use make_unique_in() with "
                  "the same allocator (adapt/unique.hpp), a pool<T>, or make<T>() of a heap");
}

}
