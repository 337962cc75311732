// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a fuzzed allocator is asked to do, read from the fuzzer's bytes, and what must then hold.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fuzz {

/// Stops the fuzzer with the place when something does not hold; in release builds too.
inline void require(bool holds, char const* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

/// The fuzzer's bytes as small numbers; zeros when they are used up.
class input {
public:
    input(const std::uint8_t* bytes, std::size_t count) : at_(bytes), end_(bytes + count) {}
    [[nodiscard]] bool empty() const { return at_ == end_; }
    [[nodiscard]] std::uint8_t byte() { return empty() ? std::uint8_t{0} : *at_++; }
    /// A size: most often small, now and then anything up to `most`.
    [[nodiscard]] std::size_t size(std::size_t most) {
        std::uint8_t const kind = byte();
        std::size_t const value = byte() | std::size_t{byte()} << 8;
        if (kind < 160) return std::min(value % 600, most);
        if (kind < 230) return std::min(value, most);
        return (value << 8 | kind) * (most >> 24 | 1) % (most + 1);
    }

private:
    std::uint8_t const* at_;
    std::uint8_t const* end_;
};

/// A block with a stamp at its first, middle and last byte.
struct held {
    unsigned char* at;
    std::size_t bytes;
    unsigned char stamp;
};

inline void write(const held& block) {
    if (block.bytes == 0) return;
    block.at[0] = block.at[block.bytes / 2] = block.at[block.bytes - 1] = block.stamp;
}

/// Whether the first `bytes` are as write() left them.
[[nodiscard]] inline bool holds(const held& block, std::size_t bytes) {
    if (block.bytes == 0 || bytes == 0) return true;
    bool const middle = block.bytes / 2 >= bytes || block.at[block.bytes / 2] == block.stamp;
    bool const last = block.bytes - 1 >= bytes || block.at[block.bytes - 1] == block.stamp;
    return block.at[0] == block.stamp && middle && last;
}

/// Takes a block out of a list, whichever `choice` says.
[[nodiscard]] inline held take(std::vector<held>& blocks, std::size_t choice) {
    held& place = blocks[choice % blocks.size()];
    held const taken = place;
    place = blocks.back();
    blocks.pop_back();
    return taken;
}

}
