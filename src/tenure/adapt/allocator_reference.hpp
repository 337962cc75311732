// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How adaptors refer to their allocator: by pointer, or by nothing at all if the allocator type is stateless.

#include <concepts>
#include <type_traits>

#include <tenure/base/allocator.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// For an allocator with state: a pointer. Requires  the allocator outlives every copy.
template<allocator A>
class allocator_reference {
public:
    allocator_reference(A& referred) noexcept : referred_(&referred) {} // NOLINT: implicit, as a reference is
    [[nodiscard]] A& get() const noexcept { return *referred_; }
    friend bool operator==(const allocator_reference&, const allocator_reference&) noexcept = default;

private:
    A* referred_;
};

/// For temp, temp_job and other stateless allocators: empty, because every object is the same allocator.
template<allocator A>
requires std::is_empty_v<A> && std::default_initializable<A>
class allocator_reference<A> {
public:
    allocator_reference() noexcept = default;
    allocator_reference(A&) noexcept {} // NOLINT: implicit, as a reference is
    [[nodiscard]] A get() const noexcept { return {}; }
    friend bool operator==(const allocator_reference&, const allocator_reference&) noexcept { return true; }
};

template<class A>
concept stateless_allocator = allocator<A> && std::is_empty_v<A> && std::default_initializable<A>;

}
