// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The calls of OffsetAllocator that examples/offset_peer/offset_allocator.cpp makes, over our own rebuilt scheme: the
/// example is compiled and run without OffsetAllocator itself.

#include <cstdint>

#include "bench/experiments/offsets/offset_nodes.hpp"

namespace OffsetAllocator {

struct Allocation {
    static constexpr std::uint32_t NO_SPACE = UINT32_MAX;
    std::uint32_t offset = NO_SPACE;
    std::uint32_t metadata = NO_SPACE;
};

class Allocator {
public:
    explicit Allocator(std::uint32_t size, std::uint32_t most) : nodes_(size, most) {}
    Allocation allocate(std::uint32_t size) {
        const auto made = nodes_.allocate(size);
        return {made.offset, made.node};
    }
    void free(Allocation which) { nodes_.release({which.offset, which.metadata}); }

private:
    tenure::lab::offset_nodes nodes_;
};

}
