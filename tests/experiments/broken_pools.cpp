// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "experiments/broken_pools.hpp"

#include <array>

#include "bench/experiments/pools/pools_contestant.hpp"

namespace broken {

namespace {

template<template<std::size_t> class Adaptor>
constexpr contestant row(std::string_view name) {
    return {.name = name,
            .how = route::inlined,
            .role = contestant_role::ours,
            .kind = "inlined",
            .type = name,
            .parts = pool_parts<Adaptor>(),
            .run = run_pool<Adaptor>};
}

constexpr std::array<contestant, 5> rows{
    row<sound>("sound"),
    row<too_narrow>("too narrow"),
    row<askew_after_frees>("askew after frees"),
    row<under_aligned>("under-aligned"),
    row<forgetful>("forgetful"),
};

std::span<const contestant> all() { return rows; }

constexpr std::array<contestant_source, 1> sources{all};

}

const experiment& pools() {
    static const experiment made = [] {
        experiment copy = pools_experiment;
        copy.name = "broken pools";
        copy.baseline = "sound";
        copy.sources = sources;
        return copy;
    }();
    return made;
}

}
