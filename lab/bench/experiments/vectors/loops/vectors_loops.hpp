// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The plain loops. `Level` is a type that only one source has, so that each source gets loops with its own flags.
///
/// A source that includes this file may be compiled for processors that not every machine has. The linker keeps one of
/// all copies of a header's inline function, and might keep that source's copy. So this file includes nothing else with
/// code.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bench/experiments/vectors/loops/vectors_calls.hpp"

namespace tenure::lab {

template<class Level>
struct vectors_loops {
    template<class T>
    static void fill(T* to, std::size_t count, T value) {
        for (std::size_t i = 0; i < count; ++i) to[i] = value;
    }
    template<class T>
    static void add(T* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(left[i] + right);
    }
    template<class T>
    static void multiply(T* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = product(left[i], right);
    }
    template<class T>
    static void multiply_buffers(T* to, std::size_t count, const T* left, const T* right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = product(left[i], right[i]);
    }
    template<class T>
    static void divide(T* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(left[i] / right);
    }
    template<class T>
    static void root(T* to, std::size_t count, const T* from) {
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(std::sqrt(from[i]));
    }
    template<class T>
    static void minimum(T* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = left[i] < right ? left[i] : right;
    }
    template<class T>
    static vectors_sum<T> sum(const T* from, std::size_t count) {
        vectors_sum<T> whole = 0;
        for (std::size_t i = 0; i < count; ++i) whole += static_cast<vectors_sum<T>>(from[i]);
        return whole;
    }
    template<class T>
    static vectors_sum<T> dot(const T* left, std::size_t count, const T* right) {
        vectors_sum<T> whole = 0;
        for (std::size_t i = 0; i < count; ++i)
            whole += static_cast<vectors_sum<T>>(left[i]) * static_cast<vectors_sum<T>>(right[i]);
        return whole;
    }
    template<class T>
    static void compare(std::uint8_t* to, std::size_t count, const T* left, T right) {
        for (std::size_t i = 0; i < count; ++i) to[i] = left[i] < right;
    }
    template<class T>
    static std::size_t count(const T* from, std::size_t count, T value) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < count; ++i) found += from[i] == value;
        return found;
    }
    template<class T>
    static std::size_t find(const T* from, std::size_t count, T value) {
        for (std::size_t i = 0; i < count; ++i)
            if (from[i] == value) return i;
        return count;
    }
    template<class To, class From>
    static void convert(To* to, std::size_t count, const From* from) {
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
    }

private:
    template<class T>
    static T product(T left, T right) {
        if constexpr (std::floating_point<T>)
            return left * right;
        else // as unsigned, and in no type smaller than int
            return static_cast<T>(1u * static_cast<std::make_unsigned_t<T>>(left) *
                                  static_cast<std::make_unsigned_t<T>>(right));
    }
};

template<class Loops, class T>
constexpr vectors_calls_of<T> loop_calls_of{
    Loops::template fill<T>,
    Loops::template add<T>,
    Loops::template multiply<T>,
    Loops::template multiply_buffers<T>,
    Loops::template divide<T>,
    Loops::template root<T>,
    Loops::template minimum<T>,
    Loops::template sum<T>,
    Loops::template dot<T>,
    Loops::template compare<T>,
    Loops::template count<T>,
    Loops::template find<T>,
    Loops::template convert<vectors_other<T>, T>,
};

template<class Loops, class... Types>
constexpr vectors_calls_of_all<Types...> made_of(const vectors_calls_of_all<Types...>*) {
    return {loop_calls_of<Loops, Types>...};
}

/// Every loop of a set.
template<class Loops>
constexpr vectors_calls loop_calls() {
    constexpr const vectors_calls* which = nullptr;
    return made_of<Loops>(which);
}

}
