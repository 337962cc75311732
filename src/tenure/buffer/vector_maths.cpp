// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Selects the loops: types, operands, the order of sums.

#include <bit>
#include <cstring>

#include <tenure/buffer/detail/vector_dispatch.hpp>
#include <tenure/buffer/detail/vector_operations.hpp>

namespace tenure::inline TENURE_ABI {
namespace vectors::detail {

namespace {

namespace kernels = vector_kernels;

/// Runs the loop of one operation. Arithmetic uses the unsigned loop for signed integers too; only order needs the
/// sign.
template<class T>
void run_loop(operation what, T* to, std::size_t count, const T* left, kernels::operand<T> right) noexcept {
    using bits = unsigned_of<T>;
    const kernels::sums_and_products<bits>& arithmetic = kernels::arithmetic();
    const kernels::orders<T>& ordering = kernels::ordering();
    const kernels::operand<bits> bit_right{reinterpret_cast<const bits*>(right.at), right.step};
    const kernels::operand<bits> bit_left = buffer_operand(reinterpret_cast<const bits*>(left));
    auto* const bit_to = reinterpret_cast<bits*>(to);
    switch (what) {
    case operation::add: return arithmetic.add(bit_to, count, bit_left, bit_right);
    case operation::subtract: return arithmetic.subtract(bit_to, count, bit_left, bit_right);
    case operation::multiply: return arithmetic.multiply(bit_to, count, bit_left, bit_right);
    case operation::minimum: return ordering.minimum(to, count, buffer_operand(left), right);
    case operation::maximum: return ordering.maximum(to, count, buffer_operand(left), right);
    }
}

/// Adds values that arrive one by one, in the order of a tree whose left branches are the largest powers of two that
/// leave something for the right ones. Adjacent sums of equal size are added at once; the rest is added at the end,
/// from the right.
template<class Sum>
class pairwise_sum {
public:
    void add(Sum next) noexcept {
        for (std::size_t bits = count_++; (bits & 1) != 0; bits >>= 1) next = open_[--depth_] + next;
        open_[depth_++] = next;
    }
    [[nodiscard]] Sum total() const noexcept {
        if (depth_ == 0) return 0;
        Sum whole = open_[depth_ - 1];
        for (std::size_t i = depth_ - 1; i != 0; --i) whole = open_[i - 1] + whole;
        return whole;
    }

private:
    Sum open_[64];
    std::size_t depth_ = 0, count_ = 0;
};

/// Calls `sum_of(begin, size)` for blocks.
template<class T, class SumOf>
T sum_of_blocks(std::size_t count, const SumOf& sum_of) noexcept {
    pairwise_sum<T> whole;
    for (std::size_t begin = 0; begin < count; begin += kernels::sum_block)
        whole.add(sum_of(begin, count - begin < kernels::sum_block ? count - begin : kernels::sum_block));
    return whole.total();
}

}

template<element T>
void operations<T>::fill(T* to, std::size_t count, T value) noexcept {
    using bits = bits_of<T>;
    const auto pattern = std::bit_cast<bits>(value);
    const auto byte = static_cast<std::uint8_t>(pattern);
    constexpr auto ones = static_cast<bits>(0x0101'0101'0101'0101);
    // For long fills memset uses the processor's own instruction: 23 GB/s in the third cache, where stores reach 14.
    constexpr std::size_t least_bytes = sizeof(T) == 1 ? 1 : std::size_t{2} << 20;
    if (count >= least_bytes / sizeof(T) && pattern == static_cast<bits>(byte * ones)) {
        std::memset(to, byte, count * sizeof(T));
        return;
    }
    const kernels::fills<bits>& loops = kernels::filling();
    loops.fill(reinterpret_cast<bits*>(to), count, pattern);
}

template<element T>
void operations<T>::copy(T* to, std::size_t count, const T* from) noexcept {
    if (!check_apart(to, from, count)) return;
    if (to == from || count == 0) return;
    // memcpy knows the cache sizes and when stores should bypass them; a loop that always does was slower at every size
    // (4.1 GB/s in memory instead of 5.2).
    std::memcpy(to, from, count * sizeof(T));
}

template<element T>
void operations<T>::run(operation what, T* to, std::size_t count, const T* left, const T* right) noexcept {
    if (!check_apart(to, left, count) || !check_apart(to, right, count)) return;
    run_loop(what, to, count, left, buffer_operand(right));
}

template<element T>
void operations<T>::run(operation what, T* to, std::size_t count, const T* left, T right) noexcept {
    if (!check_apart(to, left, count)) return;
    const repeated_value<T> value(right);
    run_loop(what, to, count, left, value.operand());
}

template<element T>
bool operations<T>::divide(T* to, std::size_t count, const T* left, const T* right) noexcept {
    if (!check_apart(to, left, count) || !check_apart(to, right, count)) return false;
    if constexpr (!floating<T>)
        if (find(looked_for::match, right, count, comparison::equal, T{0}) != count) return false;
    const kernels::quotients<T>& loops = kernels::division();
    loops.divide(to, count, left, right);
    return true;
}

template<element T>
bool operations<T>::divide(T* to, std::size_t count, const T* left, T right) noexcept {
    if (!check_apart(to, left, count)) return false;
    if constexpr (!floating<T>)
        if (right == 0) return false;
    const kernels::quotients<T>& loops = kernels::division();
    loops.divide_by(to, count, left, right);
    return true;
}

template<element T>
void operations<T>::square_root(T* to, std::size_t count, const T* from) noexcept {
    if (!check_apart(to, from, count)) return;
    const kernels::quotients<T>& loops = kernels::division();
    loops.square_root(to, count, from);
}

template<element T>
std::optional<T> operations<T>::try_minimum(const T* from, std::size_t count) noexcept {
    if (count == 0) return {};
    const kernels::orders<T>& loops = kernels::ordering();
    return loops.least(from, count);
}

template<element T>
std::optional<T> operations<T>::try_maximum(const T* from, std::size_t count) noexcept {
    if (count == 0) return {};
    const kernels::orders<T>& loops = kernels::ordering();
    return loops.greatest(from, count);
}

template<element T>
sum_type<T> operations<T>::sum(const T* from, std::size_t count) noexcept {
    const kernels::reductions<T>& loops = kernels::reducing();
    if constexpr (floating<T>)
        return sum_of_blocks<T>(count,
                                [&](std::size_t begin, std::size_t size) { return loops.sum(from + begin, size); });
    else
        return loops.sum(from, count);
}

template<element T>
sum_type<T> operations<T>::dot(const T* left, std::size_t count, const T* right) noexcept {
    const kernels::reductions<T>& loops = kernels::reducing();
    if constexpr (floating<T>)
        return sum_of_blocks<T>(
            count, [&](std::size_t begin, std::size_t size) { return loops.dot(left + begin, right + begin, size); });
    else
        return loops.dot(left, right, count);
}

template<element T>
sum_type<T> operations<T>::sum_pairwise(const sum_type<T>* sums, std::size_t count) noexcept {
    // Integers: in any order, with wrapping.
    using summed = std::conditional_t<floating<T>, T, std::uint64_t>;
    pairwise_sum<summed> whole;
    for (std::size_t i = 0; i < count; ++i) whole.add(static_cast<summed>(sums[i]));
    return static_cast<sum_type<T>>(whole.total());
}

template struct operations<std::int8_t>;
template struct operations<std::int16_t>;
template struct operations<std::int32_t>;
template struct operations<std::int64_t>;
template struct operations<std::uint8_t>;
template struct operations<std::uint16_t>;
template struct operations<std::uint32_t>;
template struct operations<std::uint64_t>;
template struct operations<float>;
template struct operations<double>;

}
}
