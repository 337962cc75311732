// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which pieces of 64 KiB of the address space belong to somebody: asked for any pointer, without a lock.
///
/// Checked builds ask it before they read what should lie around a pointer that they were given.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// A bit per piece, in leaves of a page that are mapped when their 2 GiB of addresses get a first piece, and never
/// unmapped. It is meant to be static: 512 KiB of zeros, of which the system gives what is touched.
///
/// Cost      two loads to ask; a system call for a first piece.
/// Threads   any, at once; what one thread inserts another sees if anything else tells it so.
class TENURE_API address_set {
public:
    static constexpr std::size_t piece_bytes = std::size_t{64} * 1024;

    constexpr address_set() noexcept = default;
    address_set(const address_set&) = delete;
    address_set& operator=(const address_set&) = delete;

    /// Adds the piece that `address` is in.
    /// Returns   false when memory for it is refused, or when it lies past the 128 TiB that the set knows.
    [[nodiscard]] bool insert(const void* address) noexcept;
    void erase(const void* address) noexcept;
    [[nodiscard]] bool contains(const void* address) const noexcept;

private:
    static constexpr unsigned address_bits = 47; // of a user's addresses on x86-64 and ARM64
    static constexpr std::size_t leaf_words = 512;
    static constexpr std::size_t leaf_pieces = leaf_words * 64;
    static constexpr std::size_t leaf_count = (std::size_t{1} << address_bits) / (leaf_pieces * piece_bytes);

    struct leaf {
        std::atomic<std::uint64_t> words[leaf_words];
    };
    struct place {
        std::size_t leaf;
        std::size_t word;
        std::uint64_t bit;
    };
    [[nodiscard]] static place place_of(const void* address) noexcept;
    [[nodiscard]] leaf* make_leaf(std::size_t index) noexcept;

    std::atomic<leaf*> leaves_[leaf_count]{};
};

}
