// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The untimed passes over a batch: distances and verification.

#include "bench/experiments/lifetimes/lifetimes_workload.hpp"

#include <tenure/base/align.hpp>

namespace tenure::lab {

void measure_distances(const batch& work, std::span<std::int64_t> distances) {
    for (std::size_t i = 1; i < work.blocks.size(); ++i) {
        const auto begin = static_cast<std::int64_t>(address_of(work.blocks[i]));
        const auto end_before = static_cast<std::int64_t>(address_of(work.blocks[i - 1]) + work.bytes);
        distances[i - 1] = begin - end_before;
    }
}

bool stamps_hold(const batch& work) {
    for (std::size_t i = 0; i < work.blocks.size(); ++i) {
        if (!holds(work.blocks[i], static_cast<std::uint32_t>(i + 1))) return false;
        if (!is_aligned(work.blocks[i], work.alignment)) return false;
    }
    return true;
}

bool every_byte_holds(const batch& work) {
    fill_blocks(work.blocks, work.bytes);
    if (!blocks_hold(work.blocks, work.bytes)) return false;
    for (std::size_t i = 0; i < work.blocks.size(); ++i) stamp(work.blocks[i], static_cast<std::uint32_t>(i + 1));
    return true;
}

}
