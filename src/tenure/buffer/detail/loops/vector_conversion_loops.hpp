// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Conversions: plain loops over arithmetic that the compiler vectorises.
///
/// Included once for each instruction set, and therefore without the usual include guard.

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include <hwy/highway.h>

#include <tenure/buffer/detail/vector_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace tenure::vector_kernels::inline v0_1 {
namespace HWY_NAMESPACE {

template<class To, class From>
HWY_INLINE To converted(From value) noexcept {
    return static_cast<To>(value);
}

/// NaN becomes 0; values out of range become the largest or smallest. Clamped first, so that the conversion is defined.
template<std::integral To, std::floating_point From>
HWY_INLINE To converted(From value) noexcept {
    using limits = std::numeric_limits<To>;
    constexpr int bits = limits::digits, mantissa = std::numeric_limits<From>::digits;
    constexpr From half = static_cast<From>(std::uint64_t{1} << (bits - 1));
    // 2^bits, and the largest value below it; both exact.
    constexpr From end = half * 2;
    constexpr From greatest = bits <= mantissa ? static_cast<From>(limits::max())
                                               : end - end / static_cast<From>(std::uint64_t{1} << mantissa);
    constexpr From least = static_cast<From>(limits::min());
    From inside = value < least ? least : value;
    inside = inside > greatest ? greatest : inside;
    inside = std::isnan(value) ? From{0} : inside;
    const To found = static_cast<To>(inside);
    if constexpr (bits <= mantissa)
        return found;
    else
        return value >= end ? limits::max() : found;
}

/// Below AVX-512, x86 cannot convert vectors between 64-bit integers and floating-point numbers.
template<class To, class From>
constexpr bool is_converted_one_by_one = HWY_ARCH_X86 && !HWY_CAP_GE512 &&
                                         ((std::floating_point<To> && std::integral<From> && sizeof(From) == 8) ||
                                          (std::floating_point<From> && std::integral<To> && sizeof(To) == 8));

/// Same as converted(), for scalar loops: a jump costs less for conditions that are rarely true.
template<std::integral To, std::floating_point From>
HWY_INLINE To converted_alone(From value) noexcept {
    using limits = std::numeric_limits<To>;
    constexpr From end = static_cast<From>(std::uint64_t{1} << (limits::digits - 1)) * 2;
    if (value >= static_cast<From>(limits::min()) && value < end) return static_cast<To>(value);
    if (value >= end) return limits::max();
    return value < 0 ? limits::min() : To{0}; // NaN
}
template<std::floating_point To, std::integral From>
HWY_INLINE To converted_alone(From value) noexcept {
    return static_cast<To>(value);
}

template<class To, class From>
void convert(To* to, std::size_t count, const From* from) noexcept {
    if constexpr (is_converted_one_by_one<To, From>) {
        for (std::size_t i = 0; i < count; ++i) to[i] = converted_alone<To>(from[i]);
    } else {
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) to[i] = converted<To>(from[i]);
    }
}

template<class To, class From>
constexpr conversion<To, From> conversion_of{convert<To, From>};

/// Integers of the same width are copied, and narrowing ignores the sign: neither needs a loop of its own.
template<std::integral To, std::integral From>
requires(sizeof(To) == sizeof(From) ||
         (sizeof(To) < sizeof(From) &&
          (std::is_signed_v<To> || std::is_signed_v<From>))) constexpr conversion<To, From> conversion_of<To, From>{
    nullptr};
template<class T>
constexpr conversion<T, T> conversion_of<T, T>{nullptr};

template<class From>
constexpr conversions<From> conversions_of{conversion_of<std::int8_t, From>,   conversion_of<std::int16_t, From>,
                                           conversion_of<std::int32_t, From>,  conversion_of<std::int64_t, From>,
                                           conversion_of<std::uint8_t, From>,  conversion_of<std::uint16_t, From>,
                                           conversion_of<std::uint32_t, From>, conversion_of<std::uint64_t, From>,
                                           conversion_of<float, From>,         conversion_of<double, From>};

constexpr integer_conversion_loops integer_conversion_table{
    conversions_of<std::int8_t>,   conversions_of<std::int16_t>, conversions_of<std::int32_t>,
    conversions_of<std::int64_t>,  conversions_of<std::uint8_t>, conversions_of<std::uint16_t>,
    conversions_of<std::uint32_t>, conversions_of<std::uint64_t>};
constexpr floating_conversion_loops floating_conversion_table{conversions_of<float>, conversions_of<double>};

static const integer_conversion_loops& find_integer_conversions() { return integer_conversion_table; }
static const floating_conversion_loops& find_floating_conversions() { return floating_conversion_table; }

}
}
HWY_AFTER_NAMESPACE();
