// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// stb_sprintf, a printf that fits in one header, neither allocates nor locks, and needs no C library: the kind of
/// formatter that the article chose.

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "bench/experiments/library_peers/stb_sprintf.hpp"
#include "bench/experiments/parallel/parallel_crew.hpp"
#include "bench/experiments/parallel/parallel_workload.hpp"
#include "bench/experiments/shared/type_name.hpp"

#define STB_SPRINTF_STATIC
#define STB_SPRINTF_IMPLEMENTATION
#include <stb/stb_sprintf.h>

namespace tenure::lab {

namespace {

using stb_sprintf_format = any_printf_format<stbsp_snprintf, int>;

/// A value that lies exactly between two texts becomes the next one away from zero, as stb_sprintf rounds it. The text
/// of every other float stays the same.
struct away_from_zero {
    static double of(float real) {
        const double value = real;
        return std::nextafter(value, std::copysign(std::numeric_limits<double>::infinity(), value));
    }
};
using ties_away_format = any_printf_format<std::snprintf, std::size_t, away_from_zero>;

}

template<>
struct reference_of<stb_sprintf_format> {
    using type = ties_away_format;
};

namespace {

constexpr std::array<contestant, 1> rows{{{.name = stb_sprintf_row,
                                           .how = route::inlined,
                                           .role = contestant_role::peer,
                                           .peer = stb_sprintf_name,
                                           .kind = "library",
                                           .type = type_name<stb_sprintf_format>(),
                                           .note = "one call per record; it rounds ties away from zero",
                                           .parts = 0b111,
                                           .run = run_threads<stb_sprintf_format>,
                                           .left_out = left_out_of_parallel}}};

}

library_peer stb_sprintf_peer() { return {stb_sprintf_name, stb_sprintf_package, {}, true, {}}; }

std::span<const contestant> stb_sprintf_in_parallel() { return rows; }

}
