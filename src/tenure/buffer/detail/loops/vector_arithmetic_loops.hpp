// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Addition, subtraction, multiplication.
///
/// Included once for each instruction set, and therefore without the usual include guard.

#include <concepts>

#include <tenure/buffer/detail/loops/vector_loops.hpp>

HWY_BEFORE_NAMESPACE();
namespace tenure::vector_kernels::inline v0_1 {
namespace HWY_NAMESPACE {

struct adding {
    template<class D, class V>
    HWY_INLINE V operator()(D, V left, V right) const noexcept {
        return hn::Add(left, right);
    }
};

struct subtracting {
    template<class D, class V>
    HWY_INLINE V operator()(D, V left, V right) const noexcept {
        return hn::Sub(left, right);
    }
};

struct multiplying {
    template<class D, class V>
    HWY_INLINE V operator()(D, V left, V right) const noexcept {
        return hn::Mul(left, right);
    }
};

/// No machine multiplies vectors of bytes. Bytes at even and at odd positions are multiplied separately, as the lower
/// and upper halves of 16-bit lanes.
struct multiplying_bytes {
    template<class D, class V>
    HWY_INLINE V operator()(D d, V left, V right) const noexcept {
        const hn::Repartition<std::uint16_t, D> wide;
        const auto lefts = hn::BitCast(wide, left), rights = hn::BitCast(wide, right);
        const auto even = hn::And(hn::Mul(lefts, rights), hn::Set(wide, 0xFF));
        const auto odd = hn::Mul(hn::ShiftRight<8>(lefts), hn::AndNot(hn::Set(wide, 0xFF), rights));
        return hn::BitCast(d, hn::Or(even, odd));
    }
};

template<class T, class Operation>
void run(T* to, std::size_t count, operand<T> left, operand<T> right) noexcept {
    for_each_vector(to, count, left, right, Operation{});
}

/// The product of bytes; a one-byte vector cannot be viewed as 16-bit lanes.
template<class T>
constexpr bool is_multiplied_by_halves = sizeof(T) == 1 && HWY_MAX_BYTES > sizeof(double);

template<class T>
constexpr sums_and_products<T> arithmetic_of{
    run<T, adding>, run<T, subtracting>,
    run<T, std::conditional_t<is_multiplied_by_halves<T>, multiplying_bytes, multiplying>>};

constexpr arithmetic_loops arithmetic_table{arithmetic_of<std::uint8_t>,  arithmetic_of<std::uint16_t>,
                                            arithmetic_of<std::uint32_t>, arithmetic_of<std::uint64_t>,
                                            arithmetic_of<float>,         arithmetic_of<double>};

static const arithmetic_loops& find_arithmetic() { return arithmetic_table; }

}
}
HWY_AFTER_NAMESPACE();
