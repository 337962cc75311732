// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The functions behind vector_maths.hpp, compiled for each of the ten element types.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {
namespace vectors {

template<class T, class... Types>
concept one_of = (std::same_as<T, Types> || ...);
template<class T>
concept floating = one_of<T, float, double>;
template<class T>
concept element = floating<T> || one_of<T, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                        std::uint16_t, std::uint32_t, std::uint64_t>;

/// The type of a sum: for integers 64 bits, signed or unsigned, modulo 2^64.
template<element T>
using sum_type =
    std::conditional_t<floating<T>, T, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// With NaN nothing is equal, less or greater, and everything is not_equal.
enum class comparison : unsigned char { equal, not_equal, less, less_or_equal, greater, greater_or_equal };

namespace detail {

enum class operation : unsigned char { add, subtract, multiply, minimum, maximum };
enum class looked_for : unsigned char { match, mismatch };

template<element T>
struct operations {
    static void fill(T* to, std::size_t count, T value) noexcept;
    static void copy(T* to, std::size_t count, const T* from) noexcept;
    static void run(operation, T* to, std::size_t count, const T* left, const T* right) noexcept;
    static void run(operation, T* to, std::size_t count, const T* left, T right) noexcept;
    [[nodiscard]] static bool divide(T* to, std::size_t count, const T* left, const T* right) noexcept;
    [[nodiscard]] static bool divide(T* to, std::size_t count, const T* left, T right) noexcept;
    static void square_root(T* to, std::size_t count, const T* from) noexcept;

    [[nodiscard]] static std::optional<T> try_minimum(const T* from, std::size_t count) noexcept;
    [[nodiscard]] static std::optional<T> try_maximum(const T* from, std::size_t count) noexcept;
    [[nodiscard]] static sum_type<T> sum(const T* from, std::size_t count) noexcept;
    [[nodiscard]] static sum_type<T> dot(const T* left, std::size_t count, const T* right) noexcept;
    /// The sum of sums, in the order of blocks.
    [[nodiscard]] static sum_type<T> sum_pairwise(const sum_type<T>* sums, std::size_t count) noexcept;

    static void compare(std::uint8_t* to, std::size_t count, const T* left, comparison, const T* right) noexcept;
    static void compare(std::uint8_t* to, std::size_t count, const T* left, comparison, T right) noexcept;
    [[nodiscard]] static std::size_t count(const T* left, std::size_t count, comparison, const T* right) noexcept;
    [[nodiscard]] static std::size_t count(const T* left, std::size_t count, comparison, T right) noexcept;
    [[nodiscard]] static std::size_t find(looked_for, const T* left, std::size_t count, comparison,
                                          const T* right) noexcept;
    [[nodiscard]] static std::size_t find(looked_for, const T* left, std::size_t count, comparison, T right) noexcept;
};
extern template struct operations<std::int8_t>;
extern template struct operations<std::int16_t>;
extern template struct operations<std::int32_t>;
extern template struct operations<std::int64_t>;
extern template struct operations<std::uint8_t>;
extern template struct operations<std::uint16_t>;
extern template struct operations<std::uint32_t>;
extern template struct operations<std::uint64_t>;
extern template struct operations<float>;
extern template struct operations<double>;

/// The ten types as numbers, for callers that know the type only at run time.
enum class element_type : unsigned char { int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64 };

template<element T>
constexpr element_type type_of = [] {
    constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    constexpr int first = floating<T> ? 6 : std::is_signed_v<T> ? 0 : 4;
    return static_cast<element_type>(first + log2);
}();
static_assert(type_of<std::int8_t> == element_type::int8 && type_of<std::uint64_t> == element_type::uint64);
static_assert(type_of<float> == element_type::float32 && type_of<double> == element_type::float64);

void convert(void* to, element_type to_type, std::size_t count, const void* from, element_type from_type) noexcept;

}

}
}
