// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// address_map: the owner of each 64 KiB piece of the address space. Look-ups work for any pointer and take no lock.
///
/// Allocators look up a pointer here before they read the memory around it.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// One pointer per piece, in leaves. A leaf covers 2 GiB of addresses; it is mapped for the first piece in that range
/// and never unmapped. Make the map static: it is 512 KiB of zeros for 47-bit addresses and 1 MiB for 48-bit addresses,
/// of which the system commits only what is touched.
///
/// Cost      two loads per look-up; a system call for the first piece of a leaf.
/// Threads   any, concurrently. To see another thread's entry, a thread needs some other ordering with it.
class TENURE_API address_map {
public:
    static constexpr std::size_t piece_bytes = std::size_t{64} * 1024;

    constexpr address_map() noexcept = default;
    address_map(const address_map&) = delete;
    address_map& operator=(const address_map&) = delete;

    /// Sets the owner of the piece that contains `address`. Returns   false when out of memory, or when the address is
    /// outside the range that the map covers.
    [[nodiscard]] bool set(const void* address, void* owner) noexcept;
    void erase(const void* address) noexcept;
    /// The owner, or nullptr.
    [[nodiscard]] void* get(const void* address) const noexcept {
        const std::size_t piece = address_of(address) / piece_bytes;
        if (piece / leaf_pieces >= leaf_count) return nullptr;
        // Acquire: set() and make_leaf() release. The leaf's zeros, and the owner's object, are seen.
        const leaf* const found = leaves_[piece / leaf_pieces].load(detail::memory_order::acquire);
        return found != nullptr ? found->owners[piece % leaf_pieces].load(detail::memory_order::acquire) : nullptr;
    }
    [[nodiscard]] bool contains(const void* address) const noexcept { return get(address) != nullptr; }

private:
    static constexpr std::size_t leaf_pieces = 32'768;
    static constexpr std::size_t leaf_count = (std::size_t{1} << user_address_bits) / (leaf_pieces * piece_bytes);

    struct leaf {
        detail::atomic<void*> owners[leaf_pieces]; // released with what it owns, acquired by get()
    };
    [[nodiscard]] leaf* make_leaf(std::size_t index) noexcept;

    detail::atomic<leaf*> leaves_[leaf_count]{}; // released with its zeros, acquired by get() and set()
};

}
