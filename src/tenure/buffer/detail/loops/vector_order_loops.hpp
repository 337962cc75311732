// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The smaller and larger of two values, the minimum and maximum of many.
///
/// Included once for each instruction set, and therefore without the usual include guard.

#include <concepts>

#include <tenure/buffer/detail/loops/vector_loops.hpp>

HWY_BEFORE_NAMESPACE();
namespace tenure::vector_kernels::inline v0_1 {
namespace HWY_NAMESPACE {

/// IEEE 754-2019 minimum: NaN wins, and -0 is less than +0. When both are equal, either their bits are equal, or both
/// are zeros, which differ only in the sign bit.
struct lesser {
    template<class D, class V>
    HWY_INLINE V operator()(D, V left, V right) const noexcept {
        if constexpr (std::floating_point<hn::TFromD<D>>) {
            const V other = hn::IfThenElse(hn::Or(hn::Lt(left, right), hn::IsNaN(left)), left, right);
            return hn::IfThenElse(hn::Eq(left, right), hn::Or(left, right), other);
        } else {
            return hn::Min(left, right);
        }
    }
};

struct greater {
    template<class D, class V>
    HWY_INLINE V operator()(D, V left, V right) const noexcept {
        if constexpr (std::floating_point<hn::TFromD<D>>) {
            const V other = hn::IfThenElse(hn::Or(hn::Gt(left, right), hn::IsNaN(left)), left, right);
            return hn::IfThenElse(hn::Eq(left, right), hn::And(left, right), other);
        } else {
            return hn::Max(left, right);
        }
    }
};

template<class T, class Operation>
void choose(T* to, std::size_t count, operand<T> left, operand<T> right) noexcept {
    for_each_vector(to, count, left, right, Operation{});
}

template<class T, class Operation>
HWY_INLINE T choose_lane(const T* lanes, std::size_t count) noexcept {
    const hn::CappedTag<T, 1> one;
    auto found = hn::LoadU(one, lanes);
    for (std::size_t i = 1; i < count; ++i) found = Operation{}(one, found, hn::LoadU(one, lanes + i));
    return hn::GetLane(found);
}

/// Reading an element twice does not change the result, so the last vectors may overlap earlier ones.
template<class T, class Operation>
T choose_one(const T* from, std::size_t count) noexcept {
    constexpr Operation better{};
    const vector_of<T> d;
    const std::size_t n = hn::Lanes(d);
    if (count < n) return choose_lane<T, Operation>(from, count);
    const auto last = hn::LoadU(d, from + count - n);
    auto a = last, b = last, c = last, e = last;
    std::size_t i = 0;
    for (; i + strides * n <= count; i += strides * n) {
        a = better(d, a, hn::LoadU(d, from + i));
        b = better(d, b, hn::LoadU(d, from + i + n));
        c = better(d, c, hn::LoadU(d, from + i + 2 * n));
        e = better(d, e, hn::LoadU(d, from + i + 3 * n));
    }
    for (; i + n <= count; i += n) a = better(d, a, hn::LoadU(d, from + i));
    HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(better(d, better(d, a, b), better(d, c, e)), d, lanes);
    return choose_lane<T, Operation>(lanes, n);
}

template<class T>
constexpr orders<T> orders_of{choose<T, lesser>, choose<T, greater>, choose_one<T, lesser>, choose_one<T, greater>};

constexpr order_loops order_table{orders_of<std::int8_t>,   orders_of<std::int16_t>,  orders_of<std::int32_t>,
                                  orders_of<std::int64_t>,  orders_of<std::uint8_t>,  orders_of<std::uint16_t>,
                                  orders_of<std::uint32_t>, orders_of<std::uint64_t>, orders_of<float>,
                                  orders_of<double>};

static const order_loops& find_orders() { return order_table; }

}
}
HWY_AFTER_NAMESPACE();
