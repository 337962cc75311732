// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The concept that every allocator satisfies. Adaptors, conformance tests and replay are written against it once.

#include <concepts>
#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// An allocator allocates memory by size and alignment, deallocates it with both, and recognises its own memory.
///
/// - `allocate(bytes, alignment)`: returns memory; nullptr, and nothing changes, when out of memory. Zero bytes count
///   as one.
/// - `deallocate(pointer, bytes, alignment)`: frees a block; `bytes` and `alignment` are those passed to allocate(). In
///   an allocator that cannot reuse a single block it does nothing; its header says so.
/// - `owns(pointer)`: whether the pointer is inside memory that this allocator acquired from its source.
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
