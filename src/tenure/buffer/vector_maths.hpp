// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Arithmetic over whole buffers of numbers, at the speed of memory, with vectors of at most 32 bytes.
///
/// Use it for     filling, converting, calculating with, comparing and summing arrays of one of ten types.
/// Not for        a few elements, for which a loop is as fast; matrices; functions beyond the square root.
/// Memory from    the caller: nothing is allocated.
/// Cost           about 5 ns per call, then O(count): mostly the time to read and write the memory.
/// Overhead       none; buffers need only the alignment of their type.
/// Threads        any. A call uses only the caller's thread; detail/vector_pieces.hpp divides the work among several.
/// When full      does not apply. An operation that cannot be done (division by zero, the minimum of nothing) says so
///                in its result and changes nothing.
/// Example        examples/vector_maths.cpp
///
/// Every result is that of the plain loop, bit for bit on every machine; only which NaN results may differ. Counts are
/// in elements. A written buffer may be a read one if both begin at the same element (in place). Otherwise they must
/// not overlap: checked builds report an overlap; in other builds it is undefined behaviour.
///
/// The order of floating-point sums is fixed. Elements are grouped into blocks of 4096. In a block, element i is added
/// to lane i mod L in the order of i; L is 64 lanes of float or 32 of double, and each lane starts at +0. Then the
/// upper half of the lanes is added to the lower half, lane by lane, until one is left: the block's sum. The sum of n
/// blocks is the sum of the first p plus the sum of the others, where p is the largest power of two below n. The sum of
/// no blocks is +0. Products of a dot product are rounded before they are added.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <tenure/base/config.hpp>
#include <tenure/buffer/detail/vector_operations.hpp>

namespace tenure::inline TENURE_ABI {
namespace vectors {

/// One value for all elements; its type is deduced from the buffer.
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

/// Same as static_cast where that is defined. Integers wrap; fractions are cut off; floating-point numbers out of an
/// integer's range become its minimum or maximum, and NaN becomes 0. Values that a floating-point type cannot represent
/// are rounded to nearest, ties to even. In place only between types of the same size.
template<element To, element From>
void convert(To* to, std::size_t count, const From* from) noexcept {
    detail::convert(to, detail::type_of<To>, count, from, detail::type_of<From>);
}

/// to[i] = left[i] + right[i], or + right. Integers wrap modulo 2^n, as in the functions below.
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

/// Integer quotients are cut off towards zero, and the minimum divided by -1 wraps to itself.
/// Returns   false, and writes nothing, when an integer divisor is zero; all divisors are checked first.
template<element T>
[[nodiscard]] bool divide(T* to, std::size_t count, const T* left, const T* right) noexcept {
    return detail::operations<T>::divide(to, count, left, right);
}
template<element T>
[[nodiscard]] bool divide(T* to, std::size_t count, const T* left, value_of<T> right) noexcept {
    return detail::operations<T>::divide(to, count, left, right);
}

/// Negative values give 0 for integers and NaN for floating-point numbers. Integer results are rounded down.
template<element T>
void square_root(T* to, std::size_t count, const T* from) noexcept {
    detail::operations<T>::square_root(to, count, from);
}

/// The smaller and the larger value: IEEE 754-2019 minimum and maximum, so NaN if one is NaN, and -0 is less than +0.
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

/// The smallest and the largest element by the same rules; empty if there are no elements.
template<element T>
[[nodiscard]] std::optional<T> try_minimum(const T* from, std::size_t count) noexcept {
    return detail::operations<T>::try_minimum(from, count);
}
template<element T>
[[nodiscard]] std::optional<T> try_maximum(const T* from, std::size_t count) noexcept {
    return detail::operations<T>::try_maximum(from, count);
}

/// The sum, and the sum of products, in the order above; 0 if there are no elements. Integers: in 64 bits, modulo 2^64.
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

/// Number of elements for which the comparison holds.
template<element T>
[[nodiscard]] std::size_t count_matches(const T* left, std::size_t count, comparison how, const T* right) noexcept {
    return detail::operations<T>::count(left, count, how, right);
}
template<element T>
[[nodiscard]] std::size_t count_matches(const T* left, std::size_t count, comparison how, value_of<T> right) noexcept {
    return detail::operations<T>::count(left, count, how, right);
}

/// First index for which the comparison holds, or does not hold; `count` if there is none. So it holds for all elements
/// if find_mismatch() is `count`, and for at least one if find_match() is not.
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
