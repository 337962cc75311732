// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The names of the blocks in use, by their addresses.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::lab::tracer {

/// A block's name in a trace: | is listed: 1 bit | thread + 1: 23 bits | its running number: 40 |. Zero: none. The
/// first bit, of live_blocks.hpp, is in the map alone.
using token = std::uint64_t;
constexpr unsigned number_bits = 40;
constexpr token is_listed = token{1} << 63;
[[nodiscard]] constexpr token name_in(token of_map) noexcept { return of_map & ~is_listed; }
[[nodiscard]] constexpr token make_token(std::uint32_t thread, std::uint64_t number) noexcept {
    return (std::uint64_t{thread} + 1) << number_bits | number;
}
[[nodiscard]] constexpr std::uint32_t thread_of(token name) noexcept {
    return static_cast<std::uint32_t>(name >> number_bits) - 1;
}
[[nodiscard]] constexpr std::uint64_t number_of(token name) noexcept {
    return name & ((std::uint64_t{1} << number_bits) - 1);
}

/// A slot for every 16 bytes of addresses, in leaves that are mapped at the first block there and never unmapped. A
/// block at an odd multiple of 8, as some mallocs have them, has its slot in another leaf. Of a leaf the system commits
/// what is touched: up to half as much as the blocks take. A fork's child gets no leaves. Zeroed memory is a valid map.
///
/// Cost      two loads.
/// Threads   any; calls for one block do not overlap.
class token_map {
public:
    using slot = std::atomic<token>;
    static constexpr std::size_t bytes_of_leaf = std::size_t{32} << 20; ///< that a leaf takes of the addresses

    /// Returns   nullptr if no block was ever near this address.
    [[nodiscard]] slot* find(const void* block) const noexcept {
        const std::uintptr_t at = address_of(block);
        if (at / leaf_bytes >= leaf_count) return nullptr;
        leaf* const of = leaves_[is_odd(at)][at / leaf_bytes].load(std::memory_order_acquire);
        return of == nullptr ? nullptr : &of->slots[at % leaf_bytes / slot_bytes];
    }
    /// Returns   nullptr when out of memory.
    [[nodiscard]] slot* make(const void* block) noexcept {
        slot* const found = find(block);
        return found != nullptr ? found : make_leaf(block);
    }

private:
    static constexpr std::size_t leaf_bytes = std::size_t{64} << 20, slot_bytes = 16;
    static constexpr std::size_t leaf_count = (std::size_t{1} << platform::user_address_bits) / leaf_bytes;
    struct leaf {
        slot slots[leaf_bytes / slot_bytes];
    };
    static_assert(sizeof(leaf) == bytes_of_leaf);

    [[nodiscard]] static constexpr std::size_t is_odd(std::uintptr_t at) noexcept { return at / 8 % 2; }
    [[nodiscard]] slot* make_leaf(const void* block) noexcept;

    std::atomic<leaf*> leaves_[2][leaf_count];
};

}
