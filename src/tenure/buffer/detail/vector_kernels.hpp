// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The loops that vector_maths.cpp calls: tables of functions, one table for each instruction set of the machine.
///
/// The loops do not depend on the check level, so they are compiled once, in a namespace without a level in its name.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tenure/base/config.hpp>

namespace tenure::vector_kernels::inline v0_1 {

static_assert(TENURE_VERSION_MAJOR == 0 && TENURE_VERSION_MINOR == 1, "name the namespace above for the version");

/// An operand: a buffer (step is all ones), or one value (step is zero) that is repeated over the longest stride of a
/// loop. Element i is `at[i & step]` for a buffer, and `at[0]` for a value.
template<class T>
struct operand {
    const T* at;
    std::size_t step;
};
/// Four vectors of the longest kind.
constexpr std::size_t repeated_bytes = 256;

/// Lanes of a floating-point sum and elements of its blocks: see vector_maths.hpp.
template<class T>
constexpr std::size_t sum_lanes = 256 / sizeof(T);
constexpr std::size_t sum_block = 4096;

template<class T>
using binary_loop = void (*)(T* to, std::size_t count, operand<T> left, operand<T> right) noexcept;

/// For unsigned integers, which give the same results as signed ones, and for floating-point numbers.
template<class T>
struct sums_and_products {
    binary_loop<T> add, subtract, multiply;
};
struct arithmetic_loops : sums_and_products<std::uint8_t>,
                          sums_and_products<std::uint16_t>,
                          sums_and_products<std::uint32_t>,
                          sums_and_products<std::uint64_t>,
                          sums_and_products<float>,
                          sums_and_products<double> {};

/// Requires  no integer divisor is zero.
template<class T>
struct quotients {
    void (*divide)(T* to, std::size_t count, const T* left, const T* right) noexcept;
    void (*divide_by)(T* to, std::size_t count, const T* left, T right) noexcept;
    void (*square_root)(T* to, std::size_t count, const T* from) noexcept;
};
struct quotient_loops : quotients<std::int8_t>,
                        quotients<std::int16_t>,
                        quotients<std::int32_t>,
                        quotients<std::int64_t>,
                        quotients<std::uint8_t>,
                        quotients<std::uint16_t>,
                        quotients<std::uint32_t>,
                        quotients<std::uint64_t>,
                        quotients<float>,
                        quotients<double> {};

template<class T>
struct orders {
    binary_loop<T> minimum, maximum;
    T (*least)(const T* from, std::size_t count) noexcept; ///< requires  count is not zero
    T (*greatest)(const T* from, std::size_t count) noexcept;
};
struct order_loops : orders<std::int8_t>,
                     orders<std::int16_t>,
                     orders<std::int32_t>,
                     orders<std::int64_t>,
                     orders<std::uint8_t>,
                     orders<std::uint16_t>,
                     orders<std::uint32_t>,
                     orders<std::uint64_t>,
                     orders<float>,
                     orders<double> {};

/// One comparison: as bytes, XORed with `flip`; the number of matches; the first match or mismatch.
template<class T>
struct matches {
    void (*bytes)(std::uint8_t* to, std::size_t count, operand<T> left, operand<T> right, std::uint8_t flip) noexcept;
    std::size_t (*count)(std::size_t count, operand<T> left, operand<T> right) noexcept;
    std::size_t (*find)(std::size_t count, operand<T> left, operand<T> right, bool holds) noexcept;
};
/// For integers, less_or_equal is the negation of less with swapped operands; with NaN it is not.
template<class T>
struct comparisons {
    matches<T> equal, less, less_or_equal;
};
struct comparison_loops : comparisons<std::int8_t>,
                          comparisons<std::int16_t>,
                          comparisons<std::int32_t>,
                          comparisons<std::int64_t>,
                          comparisons<std::uint8_t>,
                          comparisons<std::uint16_t>,
                          comparisons<std::uint32_t>,
                          comparisons<std::uint64_t>,
                          comparisons<float>,
                          comparisons<double> {};

template<class T>
using sum_of =
    std::conditional_t<std::floating_point<T>, T, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// Floating-point: one block, with `count` at most sum_block. Integers: any number of elements.
template<class T>
struct reductions {
    sum_of<T> (*sum)(const T* from, std::size_t count) noexcept;
    sum_of<T> (*dot)(const T* left, const T* right, std::size_t count) noexcept;
};
struct reduction_loops : reductions<std::int8_t>,
                         reductions<std::int16_t>,
                         reductions<std::int32_t>,
                         reductions<std::int64_t>,
                         reductions<std::uint8_t>,
                         reductions<std::uint16_t>,
                         reductions<std::uint32_t>,
                         reductions<std::uint64_t>,
                         reductions<float>,
                         reductions<double> {};

/// nullptr where another function does the same: a copy for integers of one width, unsigned loops for narrowing.
template<class To, class From>
struct conversion {
    void (*convert)(To* to, std::size_t count, const From* from) noexcept;
};
template<class From>
struct conversions : conversion<std::int8_t, From>,
                     conversion<std::int16_t, From>,
                     conversion<std::int32_t, From>,
                     conversion<std::int64_t, From>,
                     conversion<std::uint8_t, From>,
                     conversion<std::uint16_t, From>,
                     conversion<std::uint32_t, From>,
                     conversion<std::uint64_t, From>,
                     conversion<float, From>,
                     conversion<double, From> {};
struct integer_conversion_loops : conversions<std::int8_t>,
                                  conversions<std::int16_t>,
                                  conversions<std::int32_t>,
                                  conversions<std::int64_t>,
                                  conversions<std::uint8_t>,
                                  conversions<std::uint16_t>,
                                  conversions<std::uint32_t>,
                                  conversions<std::uint64_t> {};
struct floating_conversion_loops : conversions<float>, conversions<double> {};

template<class T>
struct fills {
    void (*fill)(T* to, std::size_t count, T value) noexcept;
};
struct fill_loops : fills<std::uint8_t>, fills<std::uint16_t>, fills<std::uint32_t>, fills<std::uint64_t> {};

/// The loops for the current machine. Selected at the first call; afterwards a call costs two jumps.
[[nodiscard]] const arithmetic_loops& arithmetic() noexcept;
[[nodiscard]] const quotient_loops& division() noexcept;
[[nodiscard]] const order_loops& ordering() noexcept;
[[nodiscard]] const comparison_loops& comparing() noexcept;
[[nodiscard]] const reduction_loops& reducing() noexcept;
[[nodiscard]] const integer_conversion_loops& converting_integers() noexcept;
[[nodiscard]] const floating_conversion_loops& converting_floating() noexcept;
[[nodiscard]] const fill_loops& filling() noexcept;

}
