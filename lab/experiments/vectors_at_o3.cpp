// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The plain loops of vectors, compiled with -O3 whatever the rest is compiled with.

#include <array>

#include "experiments/type_name.hpp"
#include "experiments/vectors_loops.hpp"

namespace tenure::lab {

namespace {

struct at_o3 {};

constexpr std::array<contestant, 1> all{{
    {.name = "loop at -O3",
     .how = route::inlined,
     .kind = "compiler",
     .type = type_name<vectors_loops<at_o3>>(),
     .note = "plain loops for every machine of this kind, compiled with -O3",
     .parts = vectors_part::both,
     .run = run_vectors<vectors_loops<at_o3>>},
}};

}

std::span<const contestant> better_loops_in_vectors() { return all; }

}
