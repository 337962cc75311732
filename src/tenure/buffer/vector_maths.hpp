// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Arithmetic over whole buffers of numbers, at the speed of memory, with vectors of at most 32 bytes.
///
/// Use it for     filling, converting, calculating with, comparing and summing up arrays of one of ten types.
/// Not for        a few elements, which a loop does as well; matrices; functions beyond the square root.
/// Memory from    nobody: the buffers are the caller's, and nothing is allocated.
/// Cost           a call about 5 ns, then O(count), mostly what reading and writing the memory costs.
/// Overhead       none; buffers need no alignment but their type's.
/// Threads        any; a call works on the caller's thread alone. In pieces on several: buffer/vector_pieces.hpp.
/// When full      never; what cannot be done (a division by zero, the least of nothing) is told and changes nothing.
/// Example        examples/vector_maths.cpp
///
/// Every result is that of the plain loop, on every machine to the bit, save which NaN it is. Counts are of elements. A
/// buffer that is written may be one that is read, from the same first element (in place); otherwise they must not
/// overlap: that is reported in checked builds, and undefined in others.
///
/// The order of floating-point sums: blocks of 4096 elements; in a block, element i is added to lane i mod L, in the
/// order of i; L is 64 lanes of float, 32 of double, and each begins at +0. Then the upper half of the lanes is added
/// to the lower, lane by lane, until one is left: the sum of the block. The sum of n blocks is that of the first p,
/// plus that of the others, where p is the greatest power of two that is less than n; of one block it is its own; of
/// none +0. Products of a dot product are rounded before they are added.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <tenure/base/config.hpp>
#include <tenure/buffer/vector_operations.hpp>

namespace tenure::inline TENURE_ABI {
namespace vectors {

/// A value for all elements; its type is found from the buffer.
template<class T>
using value_of = std::type_identity_t<T>;

template<element T>
void fill(T* to, std::size_t count, value_of<T> value) noexcept {
    detail::operations<T>::fill(to, count, value);
}
template<element T>
void copy(T* to, std::size_t count, const T* from) noexcept {
    detail::operations<T>::copy(to, count, from);
}

/// As static_cast where that is defined. Integers wrap; what has a fraction is cut off; floating-point numbers beyond
/// an integer become its least or greatest, and NaN 0; what is not exact in a floating-point type becomes the nearest
/// that is, of two the even one. In place only between types of one size.
template<element To, element From>
void convert(To* to, std::size_t count, const From* from) noexcept {
    detail::convert(to, detail::type_of<To>, count, from, detail::type_of<From>);
}

/// to[i] = left[i] + right[i], or + right. Integers wrap, modulo 2^n; likewise below.
template<element T>
void add(T* to, std::size_t count, const T* left, const T* right) noexcept {
    detail::operations<T>::run(detail::operation::add, to, count, left, right);
}
template<element T>
void add(T* to, std::size_t count, const T* left, value_of<T> right) noexcept {
    detail::operations<T>::run(detail::operation::add, to, count, left, right);
}
template<element T>
void subtract(T* to, std::size_t count, const T* left, const T* right) noexcept {
    detail::operations<T>::run(detail::operation::subtract, to, count, left, right);
}
template<element T>
void subtract(T* to, std::size_t count, const T* left, value_of<T> right) noexcept {
    detail::operations<T>::run(detail::operation::subtract, to, count, left, right);
}
template<element T>
void multiply(T* to, std::size_t count, const T* left, const T* right) noexcept {
    detail::operations<T>::run(detail::operation::multiply, to, count, left, right);
}
template<element T>
void multiply(T* to, std::size_t count, const T* left, value_of<T> right) noexcept {
    detail::operations<T>::run(detail::operation::multiply, to, count, left, right);
}

/// Integers are cut off towards zero, and the least divided by -1 wraps to itself.
/// Returns   false, and nothing is written, when a divisor of integers is zero; it is looked for first.
template<element T>
[[nodiscard]] bool divide(T* to, std::size_t count, const T* left, const T* right) noexcept {
    return detail::operations<T>::divide(to, count, left, right);
}
template<element T>
[[nodiscard]] bool divide(T* to, std::size_t count, const T* left, value_of<T> right) noexcept {
    return detail::operations<T>::divide(to, count, left, right);
}

/// Integers: the greatest whose square is not more, and 0 for what is negative. Floating-point: NaN for that.
template<element T>
void square_root(T* to, std::size_t count, const T* from) noexcept {
    detail::operations<T>::square_root(to, count, from);
}

/// The lesser and the greater: IEEE 754-2019 minimum and maximum, so NaN if one is NaN, and -0 is less than +0.
template<element T>
void minimum(T* to, std::size_t count, const T* left, const T* right) noexcept {
    detail::operations<T>::run(detail::operation::minimum, to, count, left, right);
}
template<element T>
void minimum(T* to, std::size_t count, const T* left, value_of<T> right) noexcept {
    detail::operations<T>::run(detail::operation::minimum, to, count, left, right);
}
template<element T>
void maximum(T* to, std::size_t count, const T* left, const T* right) noexcept {
    detail::operations<T>::run(detail::operation::maximum, to, count, left, right);
}
template<element T>
void maximum(T* to, std::size_t count, const T* left, value_of<T> right) noexcept {
    detail::operations<T>::run(detail::operation::maximum, to, count, left, right);
}

/// The least and the greatest element by the same rules; empty when there is none.
template<element T>
[[nodiscard]] std::optional<T> try_minimum(const T* from, std::size_t count) noexcept {
    return detail::operations<T>::try_minimum(from, count);
}
template<element T>
[[nodiscard]] std::optional<T> try_maximum(const T* from, std::size_t count) noexcept {
    return detail::operations<T>::try_maximum(from, count);
}

/// The sum, and the sum of products, in the order that stands above; 0 when there is none. Integers are added, and
/// their products found, in 64 bits, modulo 2^64.
template<element T>
[[nodiscard]] sum_type<T> sum(const T* from, std::size_t count) noexcept {
    return detail::operations<T>::sum(from, count);
}
template<element T>
[[nodiscard]] sum_type<T> dot(const T* left, std::size_t count, const T* right) noexcept {
    return detail::operations<T>::dot(left, count, right);
}

/// to[i] is 1 where `left[i] how right[i]` holds, 0 where it does not.
template<element T>
void compare(std::uint8_t* to, std::size_t count, const T* left, comparison how, const T* right) noexcept {
    detail::operations<T>::compare(to, count, left, how, right);
}
template<element T>
void compare(std::uint8_t* to, std::size_t count, const T* left, comparison how, value_of<T> right) noexcept {
    detail::operations<T>::compare(to, count, left, how, right);
}

/// For how many elements it holds.
template<element T>
[[nodiscard]] std::size_t count_matches(const T* left, std::size_t count, comparison how, const T* right) noexcept {
    return detail::operations<T>::count(left, count, how, right);
}
template<element T>
[[nodiscard]] std::size_t count_matches(const T* left, std::size_t count, comparison how, value_of<T> right) noexcept {
    return detail::operations<T>::count(left, count, how, right);
}

/// The first index for which it holds, or does not; `count` when there is none. So it holds for all when
/// find_mismatch() is `count`, and for any when find_match() is not.
template<element T>
[[nodiscard]] std::size_t find_match(const T* left, std::size_t count, comparison how, const T* right) noexcept {
    return detail::operations<T>::find(detail::looked_for::match, left, count, how, right);
}
template<element T>
[[nodiscard]] std::size_t find_match(const T* left, std::size_t count, comparison how, value_of<T> right) noexcept {
    return detail::operations<T>::find(detail::looked_for::match, left, count, how, right);
}
template<element T>
[[nodiscard]] std::size_t find_mismatch(const T* left, std::size_t count, comparison how, const T* right) noexcept {
    return detail::operations<T>::find(detail::looked_for::mismatch, left, count, how, right);
}
template<element T>
[[nodiscard]] std::size_t find_mismatch(const T* left, std::size_t count, comparison how, value_of<T> right) noexcept {
    return detail::operations<T>::find(detail::looked_for::mismatch, left, count, how, right);
}

}
}
