// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The one shape that every allocator fits: adaptors, conformance tests and replay are written once, against it.

#include <concepts>
#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// An allocator gives memory of a size and an alignment, takes it back with both, and knows its own.
///
/// - `allocate(bytes, alignment)`: memory, or null when refused, and then nothing has changed. Zero bytes count as one.
/// - `deallocate(pointer, bytes, alignment)`: takes back what the same two numbers were given for. An allocator that
///   cannot use a single block again yet does nothing and says so in its header.
/// - `owns(pointer)`: whether the pointer is inside memory that this allocator took from its source.
template<class A>
concept allocator = requires(A& a, const A& constant, void* pointer, std::size_t number) {
    { a.allocate(number, number) }
    noexcept->std::same_as<void*>;
    { a.deallocate(pointer, number, number) }
    noexcept->std::same_as<void>;
    { constant.owns(pointer) }
    noexcept->std::same_as<bool>;
};

}
