// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Quotients and square roots: plain loops over arithmetic that the compiler vectorises.
///
/// Included once for each instruction set, and therefore without the usual include guard.

#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

#include <tenure/base/compiler.hpp>
#include <tenure/buffer/detail/vector_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace tenure::vector_kernels::inline v0_1 {
namespace HWY_NAMESPACE {

/// A type that holds every value of an integer T exactly, and in which no quotient rounds up to the next integer: it is
/// at least 1 / divisor away, and the error is smaller, because the dividend has fewer bits than the mantissa.
template<std::integral T>
requires(sizeof(T) <= 4) using exact = std::conditional_t<sizeof(T) <= 2, float, double>;

template<class T>
HWY_INLINE T negated(T value) noexcept {
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(value));
}

template<std::floating_point T>
HWY_INLINE T quotient(T left, T right) noexcept {
    return left / right;
}

/// The minimum divided by -1 is 2^31 and wraps, so -1 is never used as a divisor. Unsigned types never divide by 1
/// either, so that the quotient has 31 bits, which every machine converts.
template<std::integral T>
HWY_INLINE T quotient(T left, T right) noexcept {
    if constexpr (sizeof(T) <= 2) {
        return static_cast<T>(static_cast<std::int32_t>(static_cast<float>(left) / static_cast<float>(right)));
    } else if constexpr (std::same_as<T, std::int32_t>) {
        const bool negates = right == -1;
        const T found = static_cast<T>(static_cast<double>(left) / static_cast<double>(negates ? 1 : right));
        return negates ? negated(found) : found;
    } else if constexpr (std::same_as<T, std::uint32_t>) {
        const bool keeps = right == 1;
        const auto found =
            static_cast<std::int32_t>(static_cast<double>(left) / static_cast<double>(keeps ? 2 : right));
        return keeps ? left : static_cast<T>(found);
    } else if constexpr (std::is_signed_v<T>) {
        return right == -1 ? negated(left) : static_cast<T>(left / right);
    } else {
        return left / right;
    }
}

template<class T>
void divide(T* to, std::size_t count, const T* left, const T* right) noexcept {
    if constexpr (std::integral<T> && sizeof(T) == 8) { // no machine has vectors for 64-bit division
        for (std::size_t i = 0; i < count; ++i) to[i] = quotient(left[i], right[i]);
    } else {
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) to[i] = quotient(left[i], right[i]);
    }
}

template<class T>
void negate(T* to, std::size_t count, const T* from) noexcept {
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) to[i] = negated(from[i]);
}

template<std::floating_point T>
void divide_by(T* to, std::size_t count, const T* left, T right) noexcept {
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) to[i] = left[i] / right;
}

/// Multiplies by 1 / divisor, rounded away from zero. The product is then never less than the quotient, and exceeds it
/// by less than the distance to the next integer, which is at least 1 / divisor.
template<std::integral T>
requires(sizeof(T) <= 4) void divide_by(T* to, std::size_t count, const T* left, T right) noexcept {
    if constexpr (sizeof(T) == 4) {
        if (right == 1) {
            if (count != 0) std::memmove(to, left, count * sizeof(T));
            return;
        }
        if constexpr (std::is_signed_v<T>)
            if (right == -1) return negate(to, count, left);
    }
    using real = exact<T>;
    using bits = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;
    // The next number further from zero: at most one and a half units in the last of 24 or 53 bits too large.
    const auto inverse = std::bit_cast<real>(std::bit_cast<bits>(1 / static_cast<real>(right)) + 1);
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i)
        to[i] = static_cast<T>(static_cast<std::int32_t>(static_cast<real>(left[i]) * inverse));
}

/// Division by a constant as multiplication by 65 bits of its inverse: Granlund and Montgomery, Division by Invariant
/// Integers using Multiplication, 1994, figure 4.1.
class inverse_of_word {
public:
    explicit inverse_of_word(std::uint64_t divisor) noexcept {
        const auto bits = static_cast<unsigned>(std::bit_width(divisor - 1));
        const tenure::detail::wide_word rest = (tenure::detail::wide_word{1} << bits) - divisor;
        factor_ = static_cast<std::uint64_t>((rest << 64) / divisor + 1);
        first_shift_ = bits < 1 ? bits : 1;
        second_shift_ = bits < 1 ? 0 : bits - 1;
    }
    HWY_INLINE std::uint64_t quotient_of(std::uint64_t value) const noexcept {
        const auto high = static_cast<std::uint64_t>(tenure::detail::wide_word{value} * factor_ >> 64);
        return (high + ((value - high) >> first_shift_)) >> second_shift_;
    }

private:
    std::uint64_t factor_;
    unsigned first_shift_, second_shift_;
};

template<std::integral T>
requires(sizeof(T) == 8) void divide_by(T* to, std::size_t count, const T* left, T right) noexcept {
    if constexpr (std::is_unsigned_v<T>) {
        const inverse_of_word inverse(right);
        for (std::size_t i = 0; i < count; ++i) to[i] = inverse.quotient_of(left[i]);
    } else {
        // Of magnitudes; the sign follows.
        const std::uint64_t sign = right < 0 ? ~std::uint64_t{0} : 0;
        const inverse_of_word inverse((static_cast<std::uint64_t>(right) ^ sign) - sign);
        for (std::size_t i = 0; i < count; ++i) {
            const auto value = static_cast<std::uint64_t>(left[i]);
            const auto negative = static_cast<std::uint64_t>(left[i] >> 63);
            const std::uint64_t found = inverse.quotient_of((value ^ negative) - negative);
            const std::uint64_t turned = negative ^ sign;
            to[i] = static_cast<T>((found ^ turned) - turned);
        }
    }
}

template<std::floating_point T>
HWY_INLINE T root(T value) noexcept {
    return std::sqrt(value);
}

/// Below 2^32 the root is computed with more bits than the number has, and cutting it off is correct: the root of
/// n * n - 1 is 1 / (2 n) less than n, which is more than the rounding error. Above, the result may be one too large,
/// because the number was rounded.
template<std::integral T>
HWY_INLINE T root(T value) noexcept {
    if constexpr (sizeof(T) <= 4) {
        using real = exact<T>;
        const T known = value > 0 ? value : T{0};
        return static_cast<T>(static_cast<std::int32_t>(std::sqrt(static_cast<real>(known))));
    } else {
        const auto known = static_cast<std::uint64_t>(value > 0 ? value : T{0});
        auto found = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::sqrt(static_cast<double>(known))));
        // A value that rounds to 2^64 has the root 2^32, whose square does not fit 64 bits.
        found -= found >> 32;
        found -= found * found > known;
        return static_cast<T>(found);
    }
}

template<class T>
void square_root(T* to, std::size_t count, const T* from) noexcept {
    if constexpr (std::integral<T> && sizeof(T) == 8 && HWY_ARCH_X86 && !HWY_CAP_GE512) { // no vector conversions
        for (std::size_t i = 0; i < count; ++i) to[i] = root(from[i]);
    } else {
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) to[i] = root(from[i]);
    }
}

template<class T>
constexpr quotients<T> quotients_of{divide<T>, divide_by<T>, square_root<T>};

constexpr quotient_loops quotient_table{
    quotients_of<std::int8_t>,  quotients_of<std::int16_t>,  quotients_of<std::int32_t>,  quotients_of<std::int64_t>,
    quotients_of<std::uint8_t>, quotients_of<std::uint16_t>, quotients_of<std::uint32_t>, quotients_of<std::uint64_t>,
    quotients_of<float>,        quotients_of<double>};

static const quotient_loops& find_quotients() { return quotient_table; }

}
}
HWY_AFTER_NAMESPACE();
