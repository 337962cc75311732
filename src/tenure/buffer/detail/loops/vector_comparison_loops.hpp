// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Comparisons: results as bytes, counts, searches.
///
/// Included once for each instruction set, and therefore without the usual include guard.

#include <concepts>

#include <tenure/buffer/detail/loops/vector_loops.hpp>

HWY_BEFORE_NAMESPACE();
namespace tenure::vector_kernels::inline v0_1 {
namespace HWY_NAMESPACE {

struct is_equal {
    template<class V>
    HWY_INLINE auto operator()(V left, V right) const noexcept {
        return hn::Eq(left, right);
    }
};

struct is_less {
    template<class V>
    HWY_INLINE auto operator()(V left, V right) const noexcept {
        return hn::Lt(left, right);
    }
};

struct is_less_or_equal {
    template<class V>
    HWY_INLINE auto operator()(V left, V right) const noexcept {
        return hn::Le(left, right);
    }
};

/// One byte, 0 or 1, for each element; the lowest bit may be inverted.
template<class Comparison>
struct as_bytes {
    std::uint8_t flip;

    template<class D, class V>
    HWY_INLINE auto operator()(D d, V left, V right) const noexcept {
        const hn::RebindToUnsigned<D> lanes;
        const hn::Rebind<std::uint8_t, D> bytes;
        const auto all_bits = hn::BitCast(lanes, hn::VecFromMask(d, Comparison{}(left, right)));
        const auto one = hn::Set(bytes, 1), turned = hn::Set(bytes, flip);
        if constexpr (sizeof(hn::TFromD<D>) == 1)
            return hn::Xor(hn::And(all_bits, one), turned);
        else
            return hn::Xor(hn::And(hn::TruncateTo(bytes, all_bits), one), turned);
    }
};

template<class T, class Comparison>
void bytes_of(std::uint8_t* to, std::size_t count, operand<T> left, operand<T> right, std::uint8_t flip) noexcept {
    for_each_vector(to, count, left, right, as_bytes<Comparison>{flip});
}

template<class T, class Comparison>
std::size_t count_of(std::size_t count, operand<T> left, operand<T> right) noexcept {
    constexpr Comparison compare{};
    const vector_of<T> d;
    const std::size_t n = hn::Lanes(d);
    std::size_t found = 0, i = 0;
    for (; i + strides * n <= count; i += strides * n) {
        const T* const lefts = left.at + (i & left.step);
        const T* const rights = right.at + (i & right.step);
        for (std::size_t k = 0; k < strides; ++k)
            found += hn::CountTrue(d, compare(hn::LoadU(d, lefts + k * n), hn::LoadU(d, rights + k * n)));
    }
    for (; i + n <= count; i += n) found += hn::CountTrue(d, compare(load_at(d, left, i), load_at(d, right, i)));
    if (i == count) return found;
    const std::size_t rest = count - i;
    const auto few = compare(load_few(d, operand<T>{left.at + (i & left.step), left.step}, rest),
                             load_few(d, operand<T>{right.at + (i & right.step), right.step}, rest));
    return found + hn::CountTrue(d, hn::And(few, hn::FirstN(d, rest)));
}

template<class T, class Comparison>
std::size_t index_of(std::size_t count, operand<T> left, operand<T> right, bool holds) noexcept {
    constexpr Comparison compare{};
    const vector_of<T> d;
    const std::size_t n = hn::Lanes(d);
    const auto turned = hn::FirstN(d, holds ? 0 : n);
    std::size_t i = 0;
    for (; i + strides * n <= count; i += strides * n) {
        const T* const lefts = left.at + (i & left.step);
        const T* const rights = right.at + (i & right.step);
        auto any = hn::Xor(compare(hn::LoadU(d, lefts), hn::LoadU(d, rights)), turned);
        for (std::size_t k = 1; k < strides; ++k)
            any = hn::Or(any, hn::Xor(compare(hn::LoadU(d, lefts + k * n), hn::LoadU(d, rights + k * n)), turned));
        if (!hn::AllFalse(d, any)) break; // one of the vectors below has the match
    }
    for (; i + n <= count; i += n) {
        const auto found = hn::Xor(compare(load_at(d, left, i), load_at(d, right, i)), turned);
        if (!hn::AllFalse(d, found)) return i + hn::FindKnownFirstTrue(d, found);
    }
    if (i == count) return count;
    const std::size_t rest = count - i;
    const auto few = hn::Xor(compare(load_few(d, operand<T>{left.at + (i & left.step), left.step}, rest),
                                     load_few(d, operand<T>{right.at + (i & right.step), right.step}, rest)),
                             turned);
    const auto found = hn::And(few, hn::FirstN(d, rest));
    return hn::AllFalse(d, found) ? count : i + hn::FindKnownFirstTrue(d, found);
}

template<class T, class Comparison>
constexpr matches<T> matches_of{bytes_of<T, Comparison>, count_of<T, Comparison>, index_of<T, Comparison>};

template<class T>
constexpr comparisons<T> comparisons_of{matches_of<T, is_equal>, matches_of<T, is_less>, {}};
template<std::floating_point T>
constexpr comparisons<T> comparisons_of<T>{matches_of<T, is_equal>, matches_of<T, is_less>,
                                           matches_of<T, is_less_or_equal>};

constexpr comparison_loops comparison_table{comparisons_of<std::int8_t>,   comparisons_of<std::int16_t>,
                                            comparisons_of<std::int32_t>,  comparisons_of<std::int64_t>,
                                            comparisons_of<std::uint8_t>,  comparisons_of<std::uint16_t>,
                                            comparisons_of<std::uint32_t>, comparisons_of<std::uint64_t>,
                                            comparisons_of<float>,         comparisons_of<double>};

static const comparison_loops& find_comparisons() { return comparison_table; }

}
}
HWY_AFTER_NAMESPACE();
