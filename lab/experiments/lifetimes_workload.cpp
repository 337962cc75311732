// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The untimed passes over a batch: distances and verification.

#include "experiments/lifetimes_workload.hpp"

#include <tenure/base/align.hpp>

namespace tenure::lab {

namespace {

unsigned char fill_of(std::size_t index) { return static_cast<unsigned char>(index % 255 + 1); } // never zero

bool filled_with(const void* block, std::size_t bytes, unsigned char value) {
    auto const* const first = static_cast<const unsigned char*>(block);
    for (std::size_t i = 0; i < bytes; ++i) {
        if (first[i] != value) return false;
    }
    return true;
}

}

void measure_distances(const batch& work, std::span<std::int64_t> distances) {
    for (std::size_t i = 1; i < work.blocks.size(); ++i) {
        auto const begin = static_cast<std::int64_t>(address_of(work.blocks[i]));
        auto const end_before = static_cast<std::int64_t>(address_of(work.blocks[i - 1]) + work.bytes);
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
    for (std::size_t i = 0; i < work.blocks.size(); ++i) std::memset(work.blocks[i], fill_of(i), work.bytes);
    for (std::size_t i = 0; i < work.blocks.size(); ++i) {
        if (!filled_with(work.blocks[i], work.bytes, fill_of(i))) return false;
        stamp(work.blocks[i], static_cast<std::uint32_t>(i + 1));
    }
    return true;
}

}
