// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which addresses are blocks in use of a malloc that is not ours, and what they take of each OS page.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/profile_format.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::lab::blocks {

/// What blocks in use take of an OS page.
struct page_figures {
    std::uint32_t live_bytes = 0;
    std::uint32_t blocks = 0;
    bool had_blocks = false; ///< it has some, or has had some
};

/// A bit for every eight bytes says where blocks begin; a word for every page counts them. Pages lie in leaves of 1 GiB
/// of addresses, which are mapped at the first block there and never unmapped: 72 bytes of them are touched for each
/// page with blocks. A block that covers whole regions of 2 MiB counts once for each of them. Make the map static: it is
/// 1 MiB of zeros, of which the system commits what is touched.
///
/// Cost      add, remove: two atomic operations for a small block.
/// Threads   any; calls for one block do not overlap.
class block_map {
public:
    constexpr block_map() noexcept = default;
    block_map(const block_map&) = delete;
    block_map& operator=(const block_map&) = delete;

    /// Returns   false if the block is in the map already, as when operator new has called malloc; or when out of
    ///           memory.
    bool add(const void* block, std::size_t bytes) noexcept;
    [[nodiscard]] bool contains(const void* block) const noexcept;
    /// Requires  `bytes` is what the block was added with.
    /// Returns   whether the block was in the map.
    bool remove(const void* block, std::size_t bytes) noexcept;

    /// Of the page that contains this address.
    [[nodiscard]] page_figures at(std::uintptr_t address) const noexcept;
    /// Whether any block was ever in the leaf of this address.
    [[nodiscard]] bool has_leaf(std::uintptr_t address) const noexcept { return leaf_at(address) != nullptr; }
    static constexpr std::size_t leaf_bytes = std::size_t{1} << 30;

private:
    static constexpr std::size_t page_bytes = profile_format::page_bytes;
    static constexpr std::size_t region_bytes = std::size_t{2} << 20;
    static constexpr std::size_t granule_bytes = 8, bits_per_word = 64; ///< a granule is the least distance of blocks
    static constexpr std::size_t leaf_count = (std::size_t{1} << platform::user_address_bits) / leaf_bytes;

    // The word of a page: | had blocks: 1 bit | blocks: 15 | live bytes: 16 |. That of a region: | had: 1 | blocks: 31 |.
    static constexpr std::uint32_t had_blocks = std::uint32_t{1} << 31, one_block = std::uint32_t{1} << 16;
    struct page_record {
        std::atomic<std::uint32_t> figures;
        std::atomic<std::uint64_t> starts[page_bytes / granule_bytes / bits_per_word];
    };
    struct leaf {
        page_record pages[leaf_bytes / page_bytes];
        std::atomic<std::uint32_t> regions[leaf_bytes / region_bytes];
    };

    [[nodiscard]] leaf* leaf_at(std::uintptr_t address) const noexcept;
    [[nodiscard]] leaf* make_leaf(std::uintptr_t address) noexcept;
    enum class change : bool { add, remove };
    void count(std::uintptr_t begin, std::size_t bytes, change what) noexcept;

    std::atomic<leaf*> leaves_[leaf_count]{};
};

}
