// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Fills blocks with one word per eight bytes, computed from the block's number and the place in the block.

#include "bench/harness/block_check.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include <tenure/base/align.hpp>

#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view misaligned = "a block did not have the requested alignment";
constexpr std::string_view overlapping = "two blocks overlapped";

// Odd multipliers, so that the low bytes of the words differ as well: a block of four bytes holds only those.
constexpr std::uint64_t word_at(std::uint64_t number, std::size_t offset) {
    return (number + 1) * 0x9E3779B97F4A7C15u + offset * 0xBF58476D1CE4E5B9u;
}

/// Calls `each(place, word, bytes of it)` for every word of a block.
template<class Each>
void for_each_word(void* block, std::size_t bytes, std::uint64_t number, Each each) {
    auto* const begin = static_cast<unsigned char*>(block);
    for (std::size_t offset = 0; offset < bytes; offset += sizeof(std::uint64_t)) {
        each(begin + offset, word_at(number, offset), std::min(sizeof(std::uint64_t), bytes - offset));
    }
}

}

void fill_blocks(std::span<void* const> blocks, std::size_t bytes, std::uint64_t first) {
    for (void* block : blocks) {
        for_each_word(block, bytes, first++, [](unsigned char* place, std::uint64_t word, std::size_t count) {
            std::memcpy(place, &word, count);
        });
        escape(block);
    }
}

bool blocks_hold(std::span<void* const> blocks, std::size_t bytes, std::uint64_t first) {
    bool intact = true;
    for (void* block : blocks) {
        escape(block);
        for_each_word(block, bytes, first++, [&](const unsigned char* place, std::uint64_t word, std::size_t count) {
            intact &= std::memcmp(place, &word, count) == 0;
        });
    }
    return intact;
}

std::string_view wrong_places(std::span<void*> blocks, std::size_t bytes, std::size_t alignment) {
    std::sort(blocks.begin(), blocks.end(), std::less<>{});
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (!is_aligned(blocks[i], alignment)) return misaligned;
        if (i > 0 && address_of(blocks[i]) - address_of(blocks[i - 1]) < bytes) return overlapping;
    }
    return {};
}

std::string_view check_blocks(std::span<void*> blocks, std::size_t bytes, std::size_t alignment) {
    fill_blocks(blocks, bytes);
    const bool intact = blocks_hold(blocks, bytes);
    const std::string_view misplaced = wrong_places(blocks, bytes, alignment);
    if (!misplaced.empty()) return misplaced;
    return intact ? std::string_view{} : wrong_contents;
}

std::string_view check_blocks(std::span<sized_block> blocks, std::size_t alignment) {
    std::uint64_t number = 0;
    for (const sized_block& block : blocks) fill_blocks({&block.place, 1}, block.bytes, number++);
    bool intact = true;
    number = 0;
    for (const sized_block& block : blocks) intact &= blocks_hold({&block.place, 1}, block.bytes, number++);
    std::sort(blocks.begin(), blocks.end(),
              [](const sized_block& left, const sized_block& right) { return std::less<>{}(left.place, right.place); });
    std::uintptr_t end_before = 0;
    for (const sized_block& block : blocks) {
        if (!is_aligned(block.place, std::min(alignment, malloc_alignment(block.bytes)))) return misaligned;
        if (address_of(block.place) < end_before) return overlapping;
        end_before = address_of(block.place) + block.bytes;
    }
    return intact ? std::string_view{} : wrong_contents;
}

}
