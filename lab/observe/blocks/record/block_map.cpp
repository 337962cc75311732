// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/blocks/record/block_map.hpp"

#include <algorithm>
#include <atomic>

namespace tenure::lab::blocks {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

void add_to(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint32_t flag) noexcept {
    if ((word.fetch_add(value, relaxed) & flag) == 0) word.fetch_or(flag, relaxed);
}

}

block_map::leaf* block_map::leaf_at(std::uintptr_t address) const noexcept {
    const std::size_t index = address / leaf_bytes;
    return index < leaf_count ? leaves_[index].load(std::memory_order_acquire) : nullptr;
}

block_map::leaf* block_map::make_leaf(std::uintptr_t address) noexcept {
    if (leaf* const known = leaf_at(address); known != nullptr) return known;
    const std::size_t index = address / leaf_bytes;
    if (index >= leaf_count) return nullptr;
    void* const memory = platform::map(align_up(sizeof(leaf), page_bytes), page_bytes);
    if (memory == nullptr) return nullptr;
    auto* const made = static_cast<leaf*>(memory); // zero, which is a valid leaf
    leaf* found = nullptr;
    if (leaves_[index].compare_exchange_strong(found, made, std::memory_order_acq_rel))
        return made;
    platform::unreserve(memory, align_up(sizeof(leaf), page_bytes)); // another thread was first
    return found;
}

void block_map::count(std::uintptr_t begin, std::size_t bytes, change what) noexcept {
    const bool adds = what == change::add;
    for (std::uintptr_t at = begin, end = begin + bytes; at < end;) {
        leaf* const of = adds ? make_leaf(at) : leaf_at(at);
        if (of == nullptr) return;
        const std::uintptr_t in_leaf = at % leaf_bytes;
        if (at % region_bytes == 0 && end - at >= region_bytes) {
            std::atomic<std::uint32_t>& word = of->regions[in_leaf / region_bytes];
            adds ? add_to(word, 1, had_blocks) : static_cast<void>(word.fetch_sub(1, relaxed));
            at += region_bytes;
            continue;
        }
        const std::uintptr_t next = std::min(end, align_down(at, page_bytes) + page_bytes);
        std::atomic<std::uint32_t>& word = of->pages[in_leaf / page_bytes].figures;
        const std::uint32_t value = one_block + static_cast<std::uint32_t>(next - at);
        adds ? add_to(word, value, had_blocks) : static_cast<void>(word.fetch_sub(value, relaxed));
        at = next;
    }
}

bool block_map::add(const void* block, std::size_t bytes) noexcept {
    const std::uintptr_t at = address_of(block);
    leaf* const of = make_leaf(at);
    if (of == nullptr) return false;
    const std::size_t granule = at % page_bytes / granule_bytes;
    const std::uint64_t bit = std::uint64_t{1} << granule % bits_per_word;
    page_record& page = of->pages[at % leaf_bytes / page_bytes];
    if ((page.starts[granule / bits_per_word].fetch_or(bit, relaxed) & bit) != 0) return false;
    count(at, bytes, change::add);
    return true;
}

bool block_map::contains(const void* block) const noexcept {
    const std::uintptr_t at = address_of(block);
    const leaf* const of = leaf_at(at);
    if (of == nullptr) return false;
    const std::size_t granule = at % page_bytes / granule_bytes;
    const page_record& page = of->pages[at % leaf_bytes / page_bytes];
    return (page.starts[granule / bits_per_word].load(relaxed) >> granule % bits_per_word & 1) != 0;
}

bool block_map::remove(const void* block, std::size_t bytes) noexcept {
    const std::uintptr_t at = address_of(block);
    leaf* const of = leaf_at(at);
    if (of == nullptr) return false;
    const std::size_t granule = at % page_bytes / granule_bytes;
    const std::uint64_t bit = std::uint64_t{1} << granule % bits_per_word;
    page_record& page = of->pages[at % leaf_bytes / page_bytes];
    if ((page.starts[granule / bits_per_word].fetch_and(~bit, relaxed) & bit) == 0) return false;
    count(at, bytes, change::remove);
    return true;
}

page_figures block_map::at(std::uintptr_t address) const noexcept {
    const leaf* const of = leaf_at(address);
    if (of == nullptr) return {};
    const std::uint32_t region = of->regions[address % leaf_bytes / region_bytes].load(relaxed);
    if ((region & ~had_blocks) != 0) return {page_bytes, 1, true};
    const std::uint32_t word = of->pages[address % leaf_bytes / page_bytes].figures.load(relaxed);
    page_figures found{word % one_block, (word & ~had_blocks) / one_block, ((word | region) & had_blocks) != 0};
    // Figures that another thread changes meanwhile, or of a block that went by a call that was not seen.
    found.live_bytes = std::min<std::uint32_t>(found.live_bytes, page_bytes);
    if (found.live_bytes == 0 || found.blocks == 0) found.live_bytes = found.blocks = 0;
    return found;
}

}
