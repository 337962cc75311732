// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whom pieces of 64 KiB of the address space belong to: asked for any pointer, without a lock.
///
/// Whoever is given a pointer asks it before reading what should lie around it.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// A pointer per piece, in leaves that are mapped when their 2 GiB of addresses get a first piece, and never unmapped.
/// It is meant to be static: 512 KiB of zeros for addresses of 47 bits and 1 MiB for 48, of which the system gives what
/// is touched.
///
/// Cost      two loads to ask; a system call for a first piece.
/// Threads   any, at once; what one thread writes another sees if anything else tells it so.
class TENURE_API address_map {
public:
    static constexpr std::size_t piece_bytes = std::size_t{64} * 1024;

    constexpr address_map() noexcept = default;
    address_map(const address_map&) = delete;
    address_map& operator=(const address_map&) = delete;

    /// Sets the owner of the piece that `address` is in. Returns   false when memory for it is refused, or when it lies
    /// past the addresses that the map knows.
    [[nodiscard]] bool set(const void* address, void* owner) noexcept;
    void erase(const void* address) noexcept;
    /// The owner, or null.
    [[nodiscard]] void* get(const void* address) const noexcept;
    [[nodiscard]] bool contains(const void* address) const noexcept { return get(address) != nullptr; }

private:
    static constexpr std::size_t leaf_pieces = 32'768;
    static constexpr std::size_t leaf_count = (std::size_t{1} << user_address_bits) / (leaf_pieces * piece_bytes);

    struct leaf {
        std::atomic<void*> owners[leaf_pieces];
    };
    [[nodiscard]] leaf* make_leaf(std::size_t index) noexcept;

    std::atomic<leaf*> leaves_[leaf_count]{};
};

}
