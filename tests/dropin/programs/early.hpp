// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What programs that allocate before main() share: they may not use anything that needs to be initialised.

#include <cstdlib>
#include <cstring>

/// Blocks that are allocated early and looked at, resized and freed in main().
struct early_blocks {
    void* small_block;
    void* zeroed_block;
    void* large_block;
    void* huge_block;
};

inline void allocate_early(early_blocks& blocks) {
    blocks.small_block = std::malloc(100);
    std::free(std::malloc(300));
    blocks.zeroed_block = std::calloc(10, 100);
    blocks.large_block = std::realloc(std::malloc(10), 100'000);
    blocks.huge_block = std::malloc(40'000'000);
    if (blocks.small_block == nullptr || blocks.zeroed_block == nullptr || blocks.large_block == nullptr) std::abort();
    std::memset(blocks.small_block, 1, 100);
    std::memset(blocks.large_block, 3, 100'000);
}

/// Returns   whether they are what they were.
inline bool finish_early(early_blocks& blocks) {
    const auto* const first = static_cast<unsigned char*>(blocks.small_block);
    const auto* const zeroed = static_cast<unsigned char*>(blocks.zeroed_block);
    const auto* const large = static_cast<unsigned char*>(blocks.large_block);
    const bool good = first[0] == 1 && first[99] == 1 && zeroed[0] == 0 && zeroed[999] == 0 && large[99'999] == 3;
    std::free(std::realloc(blocks.small_block, 5000));
    std::free(blocks.zeroed_block);
    std::free(blocks.large_block);
    std::free(blocks.huge_block);
    return good;
}
