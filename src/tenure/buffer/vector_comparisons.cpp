// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Six comparisons from three loops: the others swap the operands, or negate the result.

#include <utility>

#include <tenure/buffer/detail/vector_dispatch.hpp>
#include <tenure/buffer/detail/vector_operations.hpp>

namespace tenure::inline TENURE_ABI {
namespace vectors::detail {

namespace {

namespace kernels = vector_kernels;

/// A comparison expressed by one that has a loop: its `left` and `right`, and whether to negate the result.
template<class T>
struct plan {
    const kernels::matches<T>& loops;
    kernels::operand<T> left, right;
    bool is_contrary;
};

template<class T>
plan<T> plan_for(comparison how, kernels::operand<T> left, kernels::operand<T> right) noexcept {
    const kernels::comparisons<T>& loops = kernels::comparing();
    switch (how) {
    case comparison::equal: return {loops.equal, left, right, false};
    case comparison::not_equal: return {loops.equal, left, right, true};
    case comparison::less: return {loops.less, left, right, false};
    case comparison::greater: return {loops.less, right, left, false};
    case comparison::less_or_equal: break;
    case comparison::greater_or_equal: std::swap(left, right); break;
    }
    if constexpr (floating<T>)
        return {loops.less_or_equal, left, right, false};
    else
        return {loops.less, right, left, true};
}

template<class T>
void write_bytes(std::uint8_t* to, std::size_t count, const plan<T>& with) noexcept {
    with.loops.bytes(to, count, with.left, with.right, with.is_contrary);
}

template<class T>
std::size_t count_with(const plan<T>& with, std::size_t count) noexcept {
    const std::size_t found = with.loops.count(count, with.left, with.right);
    return with.is_contrary ? count - found : found;
}

template<class T>
std::size_t find_with(looked_for what, const plan<T>& with, std::size_t count) noexcept {
    return with.loops.find(count, with.left, with.right, (what == looked_for::match) != with.is_contrary);
}

}

template<element T>
void operations<T>::compare(std::uint8_t* to, std::size_t count, const T* left, comparison how,
                            const T* right) noexcept {
    if (!check_apart(to, left, count) || !check_apart(to, right, count)) return;
    write_bytes(to, count, plan_for(how, buffer_operand(left), buffer_operand(right)));
}

template<element T>
void operations<T>::compare(std::uint8_t* to, std::size_t count, const T* left, comparison how, T right) noexcept {
    if (!check_apart(to, left, count)) return;
    const repeated_value<T> value(right);
    write_bytes(to, count, plan_for(how, buffer_operand(left), value.operand()));
}

template<element T>
std::size_t operations<T>::count(const T* left, std::size_t count, comparison how, const T* right) noexcept {
    return count_with(plan_for(how, buffer_operand(left), buffer_operand(right)), count);
}

template<element T>
std::size_t operations<T>::count(const T* left, std::size_t count, comparison how, T right) noexcept {
    const repeated_value<T> value(right);
    return count_with(plan_for(how, buffer_operand(left), value.operand()), count);
}

template<element T>
std::size_t operations<T>::find(looked_for what, const T* left, std::size_t count, comparison how,
                                const T* right) noexcept {
    return find_with(what, plan_for(how, buffer_operand(left), buffer_operand(right)), count);
}

template<element T>
std::size_t operations<T>::find(looked_for what, const T* left, std::size_t count, comparison how, T right) noexcept {
    const repeated_value<T> value(right);
    return find_with(what, plan_for(how, buffer_operand(left), value.operand()), count);
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
