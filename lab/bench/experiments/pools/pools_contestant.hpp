// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Makes a contestant of an adaptor: the parts that it takes part in, and the code for each.
///
/// Besides the interface in `pools_population.hpp`, an adaptor may have `shared = true` (two threads may use one),
/// `one_by_one = false` (destroying singly frees nothing for suite 2), `max_whole` (the number of objects that it can
/// destroy singly in bounded time), `pairs = false`, `singly = false`, `max_bytes`, and `searches_when_freeing = true`.

#include "bench/experiments/pools/pools_workload.hpp"
#include "bench/experiments/shared/type_name.hpp"

namespace tenure::lab {

template<class Adaptor>
constexpr std::uint64_t parts_of(std::size_t size_index) {
    std::uint64_t parts = 0;
    bool pairs = true, one_by_one = true, singly = true, shared = false;
    if constexpr (requires { Adaptor::pairs; }) pairs = Adaptor::pairs;
    if constexpr (requires { Adaptor::one_by_one; }) one_by_one = Adaptor::one_by_one;
    if constexpr (requires { Adaptor::singly; }) singly = Adaptor::singly;
    if constexpr (requires { Adaptor::shared; }) shared = Adaptor::shared;
    if constexpr (requires { Adaptor::max_bytes; }) {
        if (pool_object_bytes[size_index] > Adaptor::max_bytes) return 0;
    }
    if (pairs) parts |= part_bit(pool_suite::pairs, size_index);
    if (singly) parts |= part_bit(pool_suite::destroy_one, size_index);
    if (one_by_one) parts |= part_bit(pool_suite::whole, size_index);
    if (can_drop<Adaptor>) parts |= part_bit(pool_suite::drop, size_index);
    if (shared) parts |= part_bit(pool_suite::two_threads, size_index);
    return parts;
}

template<template<std::size_t> class Adaptor>
constexpr std::uint64_t pool_parts() {
    return parts_of<Adaptor<pool_object_bytes[0]>>(0) | parts_of<Adaptor<pool_object_bytes[1]>>(1) |
           parts_of<Adaptor<pool_object_bytes[2]>>(2);
}

/// The suite of a part at one size. Only the parts that the adaptor takes part in are compiled.
template<class Adaptor>
void run_suite(const task& asked) {
    constexpr std::uint64_t taken = parts_of<Adaptor>(0) | parts_of<Adaptor>(1) | parts_of<Adaptor>(2);
    constexpr auto takes = [](pool_suite suite) {
        return (taken & (part_bit(suite, 0) | part_bit(suite, 1) | part_bit(suite, 2))) != 0;
    };
    switch (suite_of_part(asked.part)) {
    case pool_suite::pairs:
        if constexpr (takes(pool_suite::pairs)) run_pairs<Adaptor>(asked);
        break;
    case pool_suite::whole:
        if constexpr (takes(pool_suite::whole)) run_whole<Adaptor>(asked);
        break;
    case pool_suite::drop:
        if constexpr (takes(pool_suite::drop)) run_drop<Adaptor>(asked);
        break;
    case pool_suite::destroy_one:
        if constexpr (takes(pool_suite::destroy_one)) run_destroy_one<Adaptor>(asked);
        break;
    case pool_suite::two_threads:
        if constexpr (takes(pool_suite::two_threads)) run_two_threads<Adaptor>(asked);
        break;
    }
}

/// With more objects, a scheme that searches on each free would not finish in random order: Loki's free takes 1.2 us
/// with 200 000 objects of 64 bytes, and the time grows with their number. Without that order its memory and its
/// refills would not be comparable, so all of suite 2 is left out.
constexpr std::size_t max_for_searching = 200'000;

/// contestant::left_out of a scheme whose free searches.
template<template<std::size_t> class Adaptor>
requires(Adaptor<64>::searches_when_freeing) std::string_view
    left_out_of_pool(const parameters& options, std::size_t part) {
    const bool whole = suite_of_part(part) == pool_suite::whole;
    if (!whole || options.size("objects") <= max_for_searching) return {};
    return "each free searches its chunks, which does not finish with more than 200 000 objects";
}

template<template<std::size_t> class Adaptor>
void run_pool(const task& asked) {
    switch (bytes_of_part(asked.part)) {
    case pool_object_bytes[0]: return run_suite<Adaptor<pool_object_bytes[0]>>(asked);
    case pool_object_bytes[1]: return run_suite<Adaptor<pool_object_bytes[1]>>(asked);
    default: return run_suite<Adaptor<pool_object_bytes[2]>>(asked);
    }
}

}
