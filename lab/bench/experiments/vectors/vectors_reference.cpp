// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Plain loops in vectors, one row per set of compiler flags.

#include <array>
#include <string_view>

#include "bench/experiments/vectors/loops/vectors_calls.hpp"
#include "bench/experiments/vectors/vectors_workload.hpp"

namespace tenure::lab {

namespace {

/// A set of loops, with the interface of vector maths.
template<const vectors_calls& Loops>
struct called_loops {
    template<class T>
    static void fill(T* to, std::size_t count, T value) {
        of<T>().fill(to, count, value);
    }
    template<class T>
    static void add(T* to, std::size_t count, const T* left, T right) {
        of<T>().add(to, count, left, right);
    }
    template<class T>
    static void multiply(T* to, std::size_t count, const T* left, T right) {
        of<T>().multiply(to, count, left, right);
    }
    template<class T>
    static void multiply_buffers(T* to, std::size_t count, const T* left, const T* right) {
        of<T>().multiply_buffers(to, count, left, right);
    }
    template<class T>
    static void divide(T* to, std::size_t count, const T* left, T right) {
        of<T>().divide(to, count, left, right);
    }
    template<class T>
    static void root(T* to, std::size_t count, const T* from) {
        of<T>().root(to, count, from);
    }
    template<class T>
    static void minimum(T* to, std::size_t count, const T* left, T right) {
        of<T>().minimum(to, count, left, right);
    }
    template<class T>
    static vectors_sum<T> sum(const T* from, std::size_t count) {
        return of<T>().sum(from, count);
    }
    template<class T>
    static vectors_sum<T> dot(const T* left, std::size_t count, const T* right) {
        return of<T>().dot(left, count, right);
    }
    template<class T>
    static void compare(std::uint8_t* to, std::size_t count, const T* left, T right) {
        of<T>().compare(to, count, left, right);
    }
    template<class T>
    static std::size_t count(const T* from, std::size_t count, T value) {
        return of<T>().count(from, count, value);
    }
    template<class T>
    static std::size_t find(const T* from, std::size_t count, T value) {
        return of<T>().find(from, count, value);
    }
    template<class To, class From>
    static void convert(To* to, std::size_t count, const From* from) {
        of<From>().convert(to, count, from);
    }

private:
    template<class T>
    static const vectors_calls_of<T>& of() {
        return Loops;
    }
};

std::string_view left_out_of_v3(const parameters&, std::size_t) { return why_not_v3(); }

template<const vectors_calls& Loops>
constexpr contestant row(std::string_view name, std::string_view flags, std::string_view note) {
    return {.name = name,
            .how = route::inlined,
            .role = contestant_role::peer,
            .kind = "compiler",
            .type = flags,
            .note = note,
            .parts = vectors_part::both,
            .run = run_vectors<called_loops<Loops>>};
}

constexpr contestant row_for_v3() {
    contestant made =
        row<loops_for_v3>("loop with our flags for x86-64-v3", "loops with our flags and -march=x86-64-v3",
                          "the same with -march=x86-64-v3: unlike vector maths, not for every machine");
    made.left_out = left_out_of_v3;
    return made;
}

constexpr contestant row_for_v3_at_o3() {
    contestant made = row<loops_for_v3_at_o3>("loop at -O3 for x86-64-v3", "loops at -O3 -march=x86-64-v3",
                                              "plain loops with -O3 -march=x86-64-v3, which fuse multiplications "
                                              "with additions: unlike vector maths, not for every machine");
    made.left_out = left_out_of_v3;
    return made;
}

constexpr std::array<contestant, 5> all{{
    row<loops_at_o2>("loop at -O2", "loops at -O2", "plain loops for every machine of this kind, compiled with -O2"),
    row<loops_at_o3>("loop at -O3", "loops at -O3", "plain loops for every machine of this kind, compiled with -O3"),
    row<loops_with_our_flags>("loop with our flags", "loops with our flags",
                              "plain loops for every machine of this kind, compiled with the flags of vector maths"),
    row_for_v3(),
    row_for_v3_at_o3(),
}};

}

std::span<const contestant> loops_in_vectors() { return all; }

}
