// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The plain loops by their addresses. Each set is compiled with flags of its own in a file of its own, and called from
/// files with the usual flags.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tenure::lab {

/// The type of sums, as in vector maths: 64 bits for integers.
template<class T>
using vectors_sum =
    std::conditional_t<std::floating_point<T>, T, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// The type that elements are converted to.
template<class T>
using vectors_other = std::conditional_t<std::floating_point<T>, std::int32_t, float>;

template<class T>
struct vectors_calls_of {
    void (*fill)(T* to, std::size_t count, T value);
    void (*add)(T* to, std::size_t count, const T* left, T right);
    void (*multiply)(T* to, std::size_t count, const T* left, T right);
    void (*multiply_buffers)(T* to, std::size_t count, const T* left, const T* right);
    void (*divide)(T* to, std::size_t count, const T* left, T right);
    void (*root)(T* to, std::size_t count, const T* from);
    void (*minimum)(T* to, std::size_t count, const T* left, T right);
    vectors_sum<T> (*sum)(const T* from, std::size_t count);
    vectors_sum<T> (*dot)(const T* left, std::size_t count, const T* right);
    void (*compare)(std::uint8_t* to, std::size_t count, const T* left, T right);
    std::size_t (*count)(const T* from, std::size_t count, T value);
    std::size_t (*find)(const T* from, std::size_t count, T value);
    void (*convert)(vectors_other<T>* to, std::size_t count, const T* from);
};

template<class... Types>
struct vectors_calls_of_all : vectors_calls_of<Types>... {};

using vectors_calls = vectors_calls_of_all<std::uint64_t, std::int64_t, std::uint32_t, std::int32_t, std::uint16_t,
                                           std::int16_t, std::uint8_t, std::int8_t, float, double>;

extern const vectors_calls loops_at_o2, loops_at_o3;
extern const vectors_calls loops_with_our_flags; ///< the flags of our vector maths
extern const vectors_calls loops_for_v3;         ///< the same for x86-64-v3
extern const vectors_calls loops_for_v3_at_o3;   ///< only -O3, for x86-64-v3

/// Why this processor cannot run the loops for x86-64-v3, as a sentence; empty when it can.
[[nodiscard]] const char* why_not_v3();

}
