// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What vector maths must give, one element at a time, written down as plainly as it is stated.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <tenure/buffer/vector_maths.hpp>

namespace reference {

using tenure::vectors::comparison;
using tenure::vectors::element;
using tenure::vectors::floating;
using tenure::vectors::sum_type;

template<element T>
T wrapped(std::uint64_t bits) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(bits));
}

template<element T>
T sum(T left, T right) {
    if constexpr (floating<T>)
        return left + right;
    else
        return wrapped<T>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
}

template<element T>
T difference(T left, T right) {
    if constexpr (floating<T>)
        return left - right;
    else
        return wrapped<T>(static_cast<std::uint64_t>(left) - static_cast<std::uint64_t>(right));
}

template<element T>
T product(T left, T right) {
    if constexpr (floating<T>)
        return left * right;
    else
        return wrapped<T>(static_cast<std::uint64_t>(left) * static_cast<std::uint64_t>(right));
}

template<element T>
T quotient(T left, T right) {
    if constexpr (std::is_signed_v<T> && !floating<T>)
        if (right == -1) return difference(T{0}, left);
    return static_cast<T>(left / right);
}

template<element T>
T square_root(T value) {
    if constexpr (floating<T>) {
        return std::sqrt(value);
    } else {
        if (value <= 0) return 0;
        // Bit by bit: the greatest whose square is not more.
        const auto whole = static_cast<std::uint64_t>(value);
        std::uint64_t root = 0;
        for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1)
            if ((root | bit) * (root | bit) <= whole) root |= bit;
        return static_cast<T>(root);
    }
}

template<element T>
T minimum(T left, T right) {
    if constexpr (floating<T>) {
        if (std::isnan(left)) return left;
        if (std::isnan(right)) return right;
        if (left == right) return std::signbit(left) ? left : right;
    }
    return left < right ? left : right;
}

template<element T>
T maximum(T left, T right) {
    if constexpr (floating<T>) {
        if (std::isnan(left)) return left;
        if (std::isnan(right)) return right;
        if (left == right) return std::signbit(left) ? right : left;
    }
    return left > right ? left : right;
}

template<element T>
bool holds(T left, comparison how, T right) {
    switch (how) {
    case comparison::equal: return left == right;
    case comparison::not_equal: return left != right;
    case comparison::less: return left < right;
    case comparison::less_or_equal: return left <= right;
    case comparison::greater: return left > right;
    case comparison::greater_or_equal: return left >= right;
    }
    return false;
}

/// A long double holds every value of the ten types.
template<element To, element From>
To converted(From value) {
    if constexpr (!floating<To> && floating<From>) {
        using limits = std::numeric_limits<To>;
        if (std::isnan(value)) return 0;
        if (static_cast<long double>(value) <= static_cast<long double>(limits::min())) return limits::min();
        if (static_cast<long double>(value) >= static_cast<long double>(limits::max())) return limits::max();
    }
    return static_cast<To>(value);
}

template<floating T>
T sum_of_block(const T* from, std::size_t count) {
    std::size_t lanes = 256 / sizeof(T);
    std::vector<T> sums(lanes, T{0});
    for (std::size_t i = 0; i < count; ++i) sums[i % lanes] += from[i];
    for (; lanes != 1; lanes /= 2)
        for (std::size_t i = 0; i < lanes / 2; ++i) sums[i] += sums[i + lanes / 2];
    return sums[0];
}

template<floating T>
T sum_of_blocks(const std::vector<T>& sums, std::size_t begin, std::size_t end) {
    if (begin == end) return 0;
    if (end - begin == 1) return sums[begin];
    std::size_t half = 1;
    while (half * 2 < end - begin) half *= 2;
    return sum_of_blocks(sums, begin, begin + half) + sum_of_blocks(sums, begin + half, end);
}

template<element T>
sum_type<T> sum(const T* from, std::size_t count) {
    if constexpr (floating<T>) {
        std::vector<T> sums;
        for (std::size_t i = 0; i < count; i += 4096)
            sums.push_back(sum_of_block(from + i, count - i < 4096 ? count - i : 4096));
        return sum_of_blocks(sums, 0, sums.size());
    } else {
        std::uint64_t whole = 0;
        for (std::size_t i = 0; i < count; ++i) whole += static_cast<std::uint64_t>(from[i]);
        return static_cast<sum_type<T>>(whole);
    }
}

template<element T>
sum_type<T> dot(const T* left, const T* right, std::size_t count) {
    if constexpr (floating<T>) {
        std::vector<T> products(count);
        for (std::size_t i = 0; i < count; ++i) products[i] = left[i] * right[i];
        return sum(products.data(), count);
    } else {
        std::uint64_t whole = 0;
        for (std::size_t i = 0; i < count; ++i)
            whole += static_cast<std::uint64_t>(left[i]) * static_cast<std::uint64_t>(right[i]);
        return static_cast<sum_type<T>>(whole);
    }
}

}
