// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Sums and dot products.
///
/// Included once for each instruction set, and therefore without the usual include guard.

#include <algorithm>
#include <concepts>
#include <type_traits>

#include <tenure/buffer/detail/loops/vector_loops.hpp>

HWY_BEFORE_NAMESPACE();
namespace tenure::vector_kernels::inline v0_1 {
namespace HWY_NAMESPACE {

template<std::floating_point T>
struct summand {
    const T* from;
    template<class D>
    HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const noexcept {
        return hn::LoadU(d, from + i);
    }
    template<class D>
    HWY_INLINE hn::Vec<D> few(D d, std::size_t i, std::size_t count) const noexcept {
        return load_few(d, from + i, count);
    }
};

template<std::floating_point T>
struct product {
    const T *left, *right;
    template<class D>
    HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const noexcept {
        return hn::Mul(hn::LoadU(d, left + i), hn::LoadU(d, right + i));
    }
    template<class D>
    HWY_INLINE hn::Vec<D> few(D d, std::size_t i, std::size_t count) const noexcept {
        return hn::Mul(load_few(d, left + i, count), load_few(d, right + i, count));
    }
};

/// The sum of one block, in the order that vector_maths.hpp states. Lanes past the end are +0, which changes nothing:
/// no lane is -0, because all start at +0.
template<class T, class From>
HWY_INLINE T sum_of_block(const From& from, std::size_t count) noexcept {
    const vector_of<T> d;
    constexpr std::size_t n = hn::MaxLanes(vector_of<T>{});
    constexpr std::size_t vectors = sum_lanes<T> / n;
    hn::Vec<vector_of<T>> sums[vectors];
    for (std::size_t k = 0; k < vectors; ++k) sums[k] = hn::Zero(d);
    std::size_t i = 0;
    for (; i + sum_lanes<T> <= count; i += sum_lanes<T>)
        for (std::size_t k = 0; k < vectors; ++k) sums[k] = hn::Add(sums[k], from.at(d, i + k * n));
    if (i != count) {
        for (std::size_t k = 0; k < vectors; ++k, i += n) {
            if (i + n <= count)
                sums[k] = hn::Add(sums[k], from.at(d, i));
            else if (i < count)
                sums[k] = hn::Add(sums[k], from.few(d, i, count - i));
        }
    }
    for (std::size_t half = vectors / 2; half != 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) sums[k] = hn::Add(sums[k], sums[k + half]);
    HWY_ALIGN T lanes[n];
    hn::Store(sums[0], d, lanes);
    for (std::size_t half = n / 2; half != 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
    return lanes[0];
}

template<std::floating_point T>
T sum(const T* from, std::size_t count) noexcept {
    return sum_of_block<T>(summand<T>{from}, count);
}

template<std::floating_point T>
T dot(const T* left, const T* right, std::size_t count) noexcept {
    return sum_of_block<T>(product<T>{left, right}, count);
}

/// This many elements, or products of bytes, add up to less than 2^32, and in magnitude to at most 2^31.
constexpr std::size_t summed_in_32_bits = 1 << 15;

template<class T>
using word_of = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;

template<std::integral T>
sum_of<T> sum(const T* from, std::size_t count) noexcept {
    std::uint64_t whole = 0;
    if constexpr (sizeof(T) <= 2) {
        for (std::size_t begin = 0; begin < count; begin += summed_in_32_bits) {
            const std::size_t end = std::min(count, begin + summed_in_32_bits);
            word_of<T> part = 0;
#pragma omp simd reduction(+ : part)
            for (std::size_t i = begin; i < end; ++i) part += static_cast<word_of<T>>(from[i]);
            whole += static_cast<std::uint64_t>(static_cast<sum_of<T>>(part));
        }
    } else {
#pragma omp simd reduction(+ : whole)
        for (std::size_t i = 0; i < count; ++i) whole += static_cast<std::uint64_t>(static_cast<sum_of<T>>(from[i]));
    }
    return static_cast<sum_of<T>>(whole);
}

template<std::integral T>
sum_of<T> dot(const T* left, const T* right, std::size_t count) noexcept {
    std::uint64_t whole = 0;
    if constexpr (sizeof(T) == 1) {
        for (std::size_t begin = 0; begin < count; begin += summed_in_32_bits) {
            const std::size_t end = std::min(count, begin + summed_in_32_bits);
            word_of<T> part = 0;
#pragma omp simd reduction(+ : part)
            for (std::size_t i = begin; i < end; ++i)
                part += static_cast<word_of<T>>(left[i]) * static_cast<word_of<T>>(right[i]);
            whole += static_cast<std::uint64_t>(static_cast<sum_of<T>>(part));
        }
    } else if constexpr (sizeof(T) == 2) {
#pragma omp simd reduction(+ : whole)
        for (std::size_t i = 0; i < count; ++i) {
            const auto product = static_cast<word_of<T>>(left[i]) * static_cast<word_of<T>>(right[i]);
            whole += static_cast<std::uint64_t>(static_cast<sum_of<T>>(product));
        }
    } else {
#pragma omp simd reduction(+ : whole)
        for (std::size_t i = 0; i < count; ++i)
            whole += static_cast<std::uint64_t>(static_cast<sum_of<T>>(left[i])) *
                     static_cast<std::uint64_t>(static_cast<sum_of<T>>(right[i]));
    }
    return static_cast<sum_of<T>>(whole);
}

template<class T>
constexpr reductions<T> reductions_of{sum<T>, dot<T>};

constexpr reduction_loops reduction_table{reductions_of<std::int8_t>,   reductions_of<std::int16_t>,
                                          reductions_of<std::int32_t>,  reductions_of<std::int64_t>,
                                          reductions_of<std::uint8_t>,  reductions_of<std::uint16_t>,
                                          reductions_of<std::uint32_t>, reductions_of<std::uint64_t>,
                                          reductions_of<float>,         reductions_of<double>};

static const reduction_loops& find_reductions() { return reduction_table; }

}
}
HWY_AFTER_NAMESPACE();
