// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Our vector maths in vectors.

#include <array>
#include <string_view>

#include <tenure/buffer/vector_maths.hpp>

#include "bench/experiments/shared/type_name.hpp"
#include "bench/experiments/vectors/vectors_workload.hpp"

namespace tenure::lab {

namespace {

struct our_maths {
    template<class T>
    static void fill(T* to, std::size_t count, T value) {
        vectors::fill(to, count, value);
    }
    template<class T>
    static void add(T* to, std::size_t count, const T* left, T right) {
        vectors::add(to, count, left, right);
    }
    template<class T>
    static void multiply(T* to, std::size_t count, const T* left, T right) {
        vectors::multiply(to, count, left, right);
    }
    template<class T>
    static void multiply_buffers(T* to, std::size_t count, const T* left, const T* right) {
        vectors::multiply(to, count, left, right);
    }
    template<class T>
    static void divide(T* to, std::size_t count, const T* left, T right) {
        (void)vectors::divide(to, count, left, right); // never by zero
    }
    template<class T>
    static void root(T* to, std::size_t count, const T* from) {
        vectors::square_root(to, count, from);
    }
    template<class T>
    static void minimum(T* to, std::size_t count, const T* left, T right) {
        vectors::minimum(to, count, left, right);
    }
    template<class T>
    static vectors_sum<T> sum(const T* from, std::size_t count) {
        return vectors::sum(from, count);
    }
    template<class T>
    static vectors_sum<T> dot(const T* left, std::size_t count, const T* right) {
        return vectors::dot(left, count, right);
    }
    template<class T>
    static void compare(std::uint8_t* to, std::size_t count, const T* left, T right) {
        vectors::compare(to, count, left, vectors::comparison::less, right);
    }
    template<class T>
    static std::size_t count(const T* from, std::size_t count, T value) {
        return vectors::count_matches(from, count, vectors::comparison::equal, value);
    }
    template<class T>
    static std::size_t find(const T* from, std::size_t count, T value) {
        return vectors::find_match(from, count, vectors::comparison::equal, value);
    }
    template<class To, class From>
    static void convert(To* to, std::size_t count, const From* from) {
        vectors::convert(to, count, from);
    }
};

constexpr std::array<contestant, 1> ours{{
    {.name = "tenure vectors",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "library",
     .type = type_name<our_maths>(),
     .note = "tenure::buffer: the widest vectors of the machine, up to 32 bytes, detected at run time",
     .parts = vectors_part::both,
     .run = run_vectors<our_maths>},
}};

}

std::span<const contestant> tenure_in_vectors() { return ours; }

}
