// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The pools experiment: its description, and its parts as suite and object size.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment pools_experiment;

/// The operations on the objects. A suite at a size is a part of its own, except that two threads run at one size.
enum class pool_suite : std::uint8_t {
    pairs,       ///< the article's suite 1: construct one, destroy it
    whole,       ///< the article's suite 2: construct all, destroy all, in three orders; memory
    drop,        ///< construct all, drop them at once
    destroy_one, ///< destroy a few of many, one by one: the slow case of boost::object_pool
    two_threads, ///< half of each thread's objects are destroyed by the other
};
constexpr std::size_t pool_suite_count = 5;
constexpr std::array<std::size_t, 3> pool_object_bytes{8, 64, 280};
constexpr std::size_t two_threads_object_bytes = 64;

/// Parts are ordered by suite, then by size; the last one is that of two threads.
constexpr pool_suite suite_of_part(std::size_t part) {
    return static_cast<pool_suite>(part / pool_object_bytes.size());
}
constexpr std::size_t bytes_of_part(std::size_t part) {
    const bool last = suite_of_part(part) == pool_suite::two_threads;
    return last ? two_threads_object_bytes : pool_object_bytes[part % pool_object_bytes.size()];
}
constexpr std::uint64_t part_bit(pool_suite suite, std::size_t size_index) {
    const bool last = suite == pool_suite::two_threads;
    return std::uint64_t{1} << (static_cast<std::size_t>(suite) * pool_object_bytes.size() + (last ? 0 : size_index));
}

[[nodiscard]] std::span<const contestant> hpha_in_pools();
[[nodiscard]] std::span<const contestant> mallocs_in_pools();
[[nodiscard]] std::span<const contestant> references_in_pools();
[[nodiscard]] std::span<const contestant> tenure_in_pools();

/// The article's comparison in words.
[[nodiscard]] std::vector<property_table> pool_properties();

}
