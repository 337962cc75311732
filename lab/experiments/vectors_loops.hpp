// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The plain loops. `Level` is a type that only one source has, so that each gets loops of its own optimisation.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "experiments/vectors_workload.hpp"

namespace tenure::lab {

template<class Level>
struct vectors_loops {
    template<class T>
    [[gnu::noinline]] static void fill(T* to, std::size_t count, T value) {
        for (std::size_t i = 0; i < count; ++i) to[i] = value;
    }
    template<class T>
    [[gnu::noinline]] static void add(T* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(left[i] + right);
    }
    template<class T>
    [[gnu::noinline]] static void multiply(T* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = product(left[i], right);
    }
    template<class T>
    [[gnu::noinline]] static void multiply_buffers(T* to, std::size_t count, const T* left, const T* right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = product(left[i], right[i]);
    }
    template<class T>
    [[gnu::noinline]] static void divide(T* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(left[i] / right);
    }
    template<class T>
    [[gnu::noinline]] static void root(T* to, std::size_t count, const T* from) {
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(std::sqrt(from[i]));
    }
    template<class T>
    [[gnu::noinline]] static void minimum(T* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = left[i] < right ? left[i] : right;
    }
    template<class T>
    [[gnu::noinline]] static vectors_sum<T> sum(const T* from, std::size_t count) {
        vectors_sum<T> whole = 0;
        for (std::size_t i = 0; i < count; ++i) whole += static_cast<vectors_sum<T>>(from[i]);
        return whole;
    }
    template<class T>
    [[gnu::noinline]] static vectors_sum<T> dot(const T* left, std::size_t count, const T* right) {
        vectors_sum<T> whole = 0;
        for (std::size_t i = 0; i < count; ++i)
            whole += static_cast<vectors_sum<T>>(left[i]) * static_cast<vectors_sum<T>>(right[i]);
        return whole;
    }
    template<class T>
    [[gnu::noinline]] static void compare(std::uint8_t* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = left[i] < right;
    }
    template<class T>
    [[gnu::noinline]] static std::size_t count(const T* from, std::size_t count, T value) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < count; ++i) found += from[i] == value;
        return found;
    }
    template<class T>
    [[gnu::noinline]] static std::size_t find(const T* from, std::size_t count, T value) {
        for (std::size_t i = 0; i < count; ++i)
            if (from[i] == value) return i;
        return count;
    }
    template<class To, class From>
    [[gnu::noinline]] static void convert(To* to, std::size_t count, const From* from) {
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
    }

private:
    template<class T>
    static T product(T left, T right) {
        if constexpr (std::floating_point<T>)
            return left * right;
        else // without a sign, and in no type that is less than an int
            return static_cast<T>(1u * static_cast<std::make_unsigned_t<T>>(left) *
                                  static_cast<std::make_unsigned_t<T>>(right));
    }
};

}
